-- purpose = "The thread of a trace event as text: its number, else its name; NULL if it has
-- neither."
-- source = "docs/export.md, section Perfetto"
-- parameters = "given_process given_thread given_track given_stream"
case
    when given_thread is not null
    then cast(given_thread as varchar)
    when given_track is null
    then cast(given_stream as varchar)
    when given_process is not null
    then given_track
    when contains(given_track, '/')
    then substr(given_track, instr(given_track, '/') + 1)
end

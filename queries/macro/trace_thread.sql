-- purpose = "The thread of a trace event as JSON: its number, else its name; NULL if it has
-- neither."
-- source = "docs/export.md, section Perfetto"
-- parameters = "given_process given_thread given_track given_stream"
-- given_stream = "BIGINT: stream_id"
case
    when given_thread is not null
    then cast(given_thread as varchar)
    when given_track is null
    then cast(given_stream as varchar)
    when given_process is not null
    then cast(to_json(given_track) as varchar)
    when contains(given_track, '/')
    then cast(to_json(substr(given_track, instr(given_track, '/') + 1)) as varchar)
end

-- purpose = "The thread of a trace event as JSON: its number, else its name; NULL if it has
-- neither. A lane of it has a name of its own."
-- source = "docs/export.md, section Perfetto"
-- depends = ["trace_thread_name"]
-- parameters = "given_process given_thread given_track given_stream given_lane"
-- given_lane = "BIGINT: lane_index of trace_lane; NULL for the first lane"
case
    when given_lane is not null
    then
        cast(
            to_json(
                concat(
                    trace_thread_name(given_process, given_thread, given_track, given_stream),
                    ' (tracekit lane ',
                    given_lane,
                    ')'
                )
            ) as varchar
        )
    -- other numbers are no threads for Perfetto: it takes the process in their place
    when
        coalesce(given_thread, case when given_track is null then given_stream end)
        between 1 and 4294967295
    then trace_thread_name(given_process, given_thread, given_track, given_stream)
    else
        cast(
            to_json(
                trace_thread_name(given_process, given_thread, given_track, given_stream)
            ) as varchar
        )
end

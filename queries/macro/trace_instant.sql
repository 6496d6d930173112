-- purpose = "Phase of a moment in a Chrome trace, and where a viewer draws it: in its thread, or
-- else in its process, or else across all of them."
-- source = "Trace Event Format, section Instant Events; docs/export.md, section Perfetto"
-- parameters = "given_pid_json given_thread_name"
-- given_pid_json = "VARCHAR: pid_json of trace_process"
-- given_thread_name = "VARCHAR: trace_thread_name of the event"
concat(
    'i","s":"',
    case when given_pid_json is null then 'g' when given_thread_name is null then 'p' else 't' end
)

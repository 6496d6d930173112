-- purpose = "Kernels of sources with a plain window, beside the calls that launched them."
-- upon = "plain_window"
select
    here.*,
    rows.launch_event_id,
    rows.launch_start_ns,
    coalesce(rows.launch_start_ns + rows.launch_dur_ns, rows.launch_start_ns) as call_end_ns,
    rows.launch_dur_ns,
    rows.launch_work_count > 1 as is_graph,
    row_number() over (
        partition by here.source_id, here.device_id, rows.launch_event_id
        order by here.start_ns, here.event_id
    )
    = 1 as is_first
from plain_window as here
join
    attribution as rows
    on rows.run_id = $run_id
    and rows.source_id = here.source_id
    and rows.event_id = here.event_id
where here.work_kind = 'kernel'

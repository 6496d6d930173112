-- purpose = "Arrows of a run as events of a Chrome trace."
-- source = "Trace Event Format, as kineto writes it; docs/export.md, section Perfetto"
-- needs = ["flow"]
-- depends = ["trace_args", "trace_lane", "trace_member", "trace_process", "trace_process_name",
-- "trace_source", "trace_thread", "trace_us"]
-- parameters = "run_id phase"
-- columns = "event_json"
select
    concat(
        '{"ph":"',
        case phase_kind when 'start' then 's' when 'step' then 't' else 'f","bp":"e' end,
        '"',
        trace_member(
            'cat',
            to_json(
                coalesce(
                    category_name,
                    case
                        flow_kind when 'launch' then 'ac2g' when 'forward_backward' then 'fwdbwd'
                    end
                )
            )
        ),
        trace_member('name', to_json(name)),
        trace_member('id', try(flow_id + id_stride)),
        trace_member('pid', process.pid_json),
        trace_member(
            'tid',
            trace_thread(flow.process_id, flow.thread_id, flow.track_name, null, lane.lane_index)
        ),
        ',"ts":',
        trace_us(time_ns + shift_ns),
        trace_args('', args_json),
        '}'
    ) as event_json
from flow
join trace_source($run_id, $phase) as source using (source_id)
join
    trace_process($run_id, $phase) as process
    on process.source_id = flow.source_id
    and process.process_id is not distinct from flow.process_id
    and process.process_name
    is not distinct from trace_process_name(flow.process_id, flow.thread_id, flow.track_name, null)
left join
    (
        select source_id, process_id, thread_id, track_name, start_ns, min(lane_index) as lane_index
        from trace_lane($run_id)
        group by all
    ) as lane
    on lane.source_id = flow.source_id
    and lane.start_ns = flow.time_ns
    and lane.process_id is not distinct from flow.process_id
    and lane.thread_id is not distinct from flow.thread_id
    and lane.track_name is not distinct from flow.track_name
where flow.run_id = $run_id and coalesce(time_ns between first_ns and last_ns, false)

-- purpose = "Slices of a run as events of a Chrome trace; a slice without duration as one that
-- begins."
-- source = "Trace Event Format, as kineto writes it; docs/export.md, section Perfetto"
-- needs = ["slice"]
-- depends = ["trace_args", "trace_category", "trace_instant", "trace_json", "trace_lane",
-- "trace_member", "trace_process", "trace_process_name", "trace_source", "trace_thread",
-- "trace_thread_name", "trace_us"]
-- parameters = "run_id phase"
-- columns = "event_json"
select
    concat(
        '{"ph":"',
        case
            when slice_kind = 'instant'
            then
                trace_instant(
                    process.pid_json,
                    trace_thread_name(
                        slice.process_id, slice.thread_id, slice.track_name, slice.stream_id
                    )
                )
            when dur_ns is null
            then 'B'
            else 'X'
        end,
        '"',
        trace_member('cat', to_json(trace_category(slice_kind, category_name))),
        trace_member('name', to_json(name)),
        trace_member('pid', process.pid_json),
        trace_member(
            'tid',
            trace_thread(
                slice.process_id,
                slice.thread_id,
                slice.track_name,
                slice.stream_id,
                lane.lane_index
            )
        ),
        ',"ts":',
        trace_us(slice.start_ns + shift_ns),
        trace_member('dur', trace_us(dur_ns)),
        trace_args(
            concat(
                trace_member('External id', try(external_id + id_stride)),
                trace_member('correlation', try(correlation_id + id_stride)),
                trace_member('cbid', callback_id),
                trace_member('Ev Idx', try(event_index + id_stride)),
                trace_member('Record function id', try(record_function_id + id_stride)),
                trace_member('Sequence number', try(sequence_id + id_stride)),
                trace_member('Fwd thread id', forward_thread_id),
                trace_member('Python id', try(python_id + id_stride)),
                trace_member('Python parent id', try(python_parent_id + id_stride)),
                trace_member('Python module id', python_module_id),
                trace_member('device', device_id),
                trace_member('stream', stream_id),
                trace_member('Input Dims', trace_json(input_dims)),
                trace_member('Input type', trace_json(input_types)),
                trace_member('Input Strides', trace_json(input_strides)),
                trace_member('Concrete Inputs', trace_json(concrete_inputs)),
                trace_member('Call stack', trace_json(call_stack)),
                trace_member('Module Hierarchy', trace_json(module_hierarchy))
            ),
            args_json
        ),
        '}'
    ) as event_json
from slice
join trace_source($run_id, $phase) as source using (source_id)
join
    trace_process($run_id, $phase) as process
    on process.source_id = slice.source_id
    and process.process_id is not distinct from slice.process_id
    and process.process_name is not distinct from trace_process_name(
        slice.process_id, slice.thread_id, slice.track_name, slice.device_id
    )
left join
    trace_lane($run_id) as lane
    on lane.source_id = slice.source_id
    and lane.event_id = slice.event_id
where
    slice.run_id = $run_id
    and category_name is distinct from 'tracekit'
    and coalesce(slice.start_ns between first_ns and last_ns, false)

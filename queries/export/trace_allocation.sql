-- purpose = "Allocations and releases of a run as events of a Chrome trace."
-- source = "Trace Event Format, as kineto writes it; docs/export.md, section Perfetto"
-- needs = ["memory_event"]
-- depends = ["trace_args", "trace_instant", "trace_member", "trace_process", "trace_process_name",
-- "trace_source", "trace_thread", "trace_thread_name", "trace_us"]
-- parameters = "run_id phase"
-- columns = "event_json"
select
    concat(
        '{"ph":"',
        trace_instant(
            process.pid_json,
            trace_thread_name(event.process_id, event.thread_id, event.track_name, null)
        ),
        '","cat":"cpu_instant_event","name":"[memory]"',
        trace_member('pid', process.pid_json),
        trace_member(
            'tid', trace_thread(event.process_id, event.thread_id, event.track_name, null, null)
        ),
        ',"ts":',
        trace_us(time_ns + shift_ns),
        trace_args(
            concat(
                trace_member('Bytes', size_bytes),
                trace_member('Addr', address),
                trace_member('Total Allocated', total_allocated_bytes),
                trace_member('Total Reserved', total_reserved_bytes),
                -- c10::DeviceType
                trace_member(
                    'Device Type',
                    list_position(
                        [
                            'cpu',
                            'cuda',
                            'mkldnn',
                            'opengl',
                            'opencl',
                            'ideep',
                            'hip',
                            'fpga',
                            'maia',
                            'xla',
                            'vulkan',
                            'metal',
                            'xpu',
                            'mps',
                            'meta',
                            'hpu',
                            've',
                            'lazy',
                            'ipu',
                            'mtia',
                            'privateuse1'
                        ],
                        device_kind
                    )
                    - 1
                ),
                trace_member('Device Id', event.device_id),
                trace_member('Ev Idx', try(event_index + id_stride))
            ),
            args_json
        ),
        '}'
    ) as event_json
from memory_event as event
join trace_source($run_id, $phase) as source using (source_id)
join
    trace_process($run_id, $phase) as process
    on process.source_id = event.source_id
    and process.process_id is not distinct from event.process_id
    and process.process_name is not distinct from trace_process_name(
        event.process_id, event.thread_id, event.track_name, event.device_id
    )
where event.run_id = $run_id and coalesce(time_ns between first_ns and last_ns, false)

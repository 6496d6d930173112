-- purpose = "Copies and memsets of a run as events of a Chrome trace."
-- source = "Trace Event Format, as kineto writes it; docs/export.md, section Perfetto"
-- needs = ["transfer"]
-- depends = ["device_rank", "trace_args", "trace_lane", "trace_member", "trace_process",
-- "trace_process_name", "trace_source", "trace_thread", "trace_us"]
-- parameters = "run_id phase"
-- columns = "event_json"
select
    concat(
        '{"ph":"',
        case when dur_ns is null then 'B' else 'X' end,
        '","cat":"',
        case when transfer_kind = 'memset' then 'gpu_memset' else 'gpu_memcpy' end,
        '"',
        trace_member('name', to_json(name)),
        trace_member('pid', process.pid_json),
        trace_member(
            'tid',
            trace_thread(
                transfer.process_id,
                transfer.thread_id,
                transfer.track_name,
                transfer.stream_id,
                lane.lane_index
            )
        ),
        ',"ts":',
        trace_us(transfer.start_ns + shift_ns),
        trace_member('dur', trace_us(dur_ns)),
        trace_args(
            concat(
                trace_member('External id', try(external_id + id_stride)),
                trace_member('correlation', try(correlation_id + id_stride)),
                trace_member('device', transfer.device_id),
                trace_member(
                    'rank', case when source.timeline_count > 1 then device_rank.rank_index end
                ),
                trace_member('context', context_id),
                trace_member('stream', stream_id),
                trace_member('bytes', size_bytes),
                trace_member(
                    'memory bandwidth (GB/s)',
                    case
                        when isfinite(reported_bytes_per_s) then ratio(reported_bytes_per_s, 1e9)
                    end
                )
            ),
            args_json
        ),
        '}'
    ) as event_json
from transfer
join trace_source($run_id, $phase) as source using (source_id)
join
    trace_process($run_id, $phase) as process
    on process.source_id = transfer.source_id
    and process.process_id is not distinct from transfer.process_id
    and process.process_name is not distinct from trace_process_name(
        transfer.process_id, transfer.thread_id, transfer.track_name, transfer.device_id
    )
left join
    trace_lane($run_id) as lane
    on lane.source_id = transfer.source_id
    and lane.event_id = transfer.event_id
left join
    device_rank
    on device_rank.run_id = $run_id
    and device_rank.source_id = transfer.source_id
    and device_rank.device_id is not distinct from transfer.device_id
where transfer.run_id = $run_id and coalesce(transfer.start_ns between first_ns and last_ns, false)

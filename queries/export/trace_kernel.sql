-- purpose = "Kernels of a run as events of a Chrome trace."
-- source = "Trace Event Format, as kineto writes it; docs/export.md, section Perfetto"
-- needs = ["kernel"]
-- depends = ["device_rank", "trace_args", "trace_lane", "trace_member", "trace_process",
-- "trace_process_name", "trace_source", "trace_thread", "trace_us"]
-- parameters = "run_id phase"
-- columns = "event_json"
select
    concat(
        '{"ph":"',
        case when dur_ns is null then 'B' else 'X' end,
        '","cat":"kernel"',
        trace_member('name', to_json(name)),
        trace_member('pid', process.pid_json),
        trace_member(
            'tid',
            trace_thread(
                kernel.process_id,
                kernel.thread_id,
                kernel.track_name,
                kernel.stream_id,
                lane.lane_index
            )
        ),
        ',"ts":',
        trace_us(kernel.start_ns + shift_ns),
        trace_member('dur', trace_us(dur_ns)),
        trace_args(
            concat(
                trace_member('External id', try(external_id + id_stride)),
                trace_member('correlation', try(correlation_id + id_stride)),
                trace_member('queued', queued_ns),
                trace_member('device', kernel.device_id),
                trace_member(
                    'rank', case when source.timeline_count > 1 then device_rank.rank_index end
                ),
                trace_member('context', context_id),
                trace_member('stream', stream_id),
                trace_member('registers per thread', registers_per_thread_count),
                trace_member('shared memory', shared_memory_bytes),
                trace_member(
                    'blocks per SM',
                    case when isfinite(blocks_per_sm_count) then blocks_per_sm_count end
                ),
                trace_member(
                    'warps per SM',
                    case when isfinite(warps_per_sm_count) then warps_per_sm_count end
                ),
                trace_member(
                    'grid',
                    case
                        when grid_x + grid_y + grid_z is not null
                        then concat('[', grid_x, ',', grid_y, ',', grid_z, ']')
                    end
                ),
                trace_member(
                    'block',
                    case
                        when block_x + block_y + block_z is not null
                        then concat('[', block_x, ',', block_y, ',', block_z, ']')
                    end
                ),
                trace_member(
                    'est. achieved occupancy %',
                    case when isfinite(occupancy_ratio) then round(occupancy_ratio * 100, 12) end
                ),
                trace_member('graph id', graph_id),
                trace_member('graph node id', graph_node_id),
                trace_member('Collective name', to_json(collective_name)),
                trace_member('op name', to_json(op_name)),
                trace_member('hlo op', to_json(hlo_op_name)),
                trace_member('program', to_json(program_name)),
                trace_member('category', to_json(category_name))
            ),
            args_json
        ),
        '}'
    ) as event_json
from kernel
join trace_source($run_id, $phase) as source using (source_id)
join
    trace_process($run_id, $phase) as process
    on process.source_id = kernel.source_id
    and process.process_id is not distinct from kernel.process_id
    and process.process_name is not distinct from trace_process_name(
        kernel.process_id, kernel.thread_id, kernel.track_name, kernel.device_id
    )
left join
    trace_lane($run_id) as lane
    on lane.source_id = kernel.source_id
    and lane.event_id = kernel.event_id
left join
    device_rank
    on device_rank.run_id = $run_id
    and device_rank.source_id = kernel.source_id
    and device_rank.device_id is not distinct from kernel.device_id
where kernel.run_id = $run_id and coalesce(kernel.start_ns between first_ns and last_ns, false)

-- purpose = "Launches of a timeline with joined counters: time in the timeline, operations and
-- bytes by the counters, and the rule of the match."
-- source = "docs/metrics.md, section Counters joined to a timeline"
-- needs = ["kernel_match"]
-- depends = ["counted_work", "kernel_launch", "device_known", "mean_count", "spread_count",
-- "shared_by_all"]
-- empty_without = ["kernel_match"]
-- columns = "run_id source_id event_id name launch_count-row launch_index device_id device_name
-- compute_capability provenance_kind-measured match_kind fit_count counted_ns flop_spread_ratio
-- dram_spread_ratio match_reason dur_ns-timeline dur_reason fp64_flop fp64_reason fp32_flop
-- fp32_reason fp16_packed_flop fp16_scalar_flop fp16_arithmetic_flop fp16_kind fp16_reason
-- tensor_fp64_flop tensor_tf32_flop tensor_bf16_flop tensor_fp16_flop tensor_fp8_flop
-- tensor_fp4_flop tensor_mixed_flop tensor_int_flop tensor_flop tensor_reason known_flop-counted
-- total_arithmetic_flop total_packed_flop total_scalar_flop total_reason missing_metrics
-- dram_bytes dram_basis dram_reason l2_paper_bytes l2_vendor_bytes l2_reason l1_paper_bytes
-- l1_vendor_bytes l1_reason own_fp64_flop_per_s own_fp32_flop_per_s own_fp16_flop_per_s
-- own_tensor_fp64_flop_per_s own_tensor_tf32_flop_per_s own_tensor_bf16_flop_per_s
-- own_tensor_fp16_flop_per_s own_tensor_fp8_flop_per_s own_tensor_fp4_flop_per_s
-- own_tensor_int8_flop_per_s own_dram_bytes_per_s own_l2_paper_bytes_per_s
-- own_l2_vendor_bytes_per_s own_l1_paper_bytes_per_s own_l1_vendor_bytes_per_s occupancy_ratio
-- compute_throughput_ratio memory_throughput_ratio dram_throughput_ratio"
-- match_kind = "VARCHAR: rule of the match: sequence, shape or name; the weakest of several
-- counter runs; NULL: no counters"
-- fit_count = "BIGINT: counter launches in the mean: 1 if matched by order"
-- counted_ns = "BIGINT: mean duration of the matching counter launches"
-- match_reason = "VARCHAR: why there are no counters"
with
    -- what one launch did, by each counter run: where several launches of it fit, their mean
    mean as not materialized(
        select
            run_id,
            source_id,
            match_index,
            count(*) as fit_count,
            mean_count(dur_ns, launch_count) as counted_ns,
            spread_count(known_flop, launch_count) as flop_spread_ratio,
            spread_count(dram_bytes, launch_count) as dram_spread_ratio,
            mean_count(
                columns('^(fp|tensor).*_flop$|^tensor_flop$|^dram_bytes$|_(paper|vendor)_bytes$'),
                launch_count
            ) as "\0",
            avg(columns('^own_|_ratio$')) as "\0",
            min(
                columns('^(fp64|fp32|fp16|tensor|dram|l2|l1)_reason$|^fp16_kind$|^dram_basis$')
            ) as "\0",
            min(missing_metrics) as missing_metrics,
            min(device_name) as device_name
        from counted_work
        where match_index is not null
        group by run_id, source_id, match_index
    ),
    -- the counters of each launch, of one counter run or of several; what they are has a number,
    -- the same for the same counters
    matched as not materialized(
        select
            run_id,
            launch_source_id,
            event_id,
            cast(
                sum(hash(hash(source_id, match_index)) >> 8) filter (
                    where match_index is not null
                ) as hugeint
            ) as work_number,
            case
                max(list_position(['sequence', 'shape', 'name'], match_kind))
                when 1
                then 'sequence'
                when 2
                then 'shape'
                when 3
                then 'name'
            end as match_kind,
            min(reason) as reason
        from kernel_match
        group by run_id, launch_source_id, event_id
    ),
    kinds as not materialized(
        select distinct
            matched.run_id, matched.work_number, kernel_match.source_id, kernel_match.match_index
        from
            (
                select
                    run_id,
                    work_number,
                    arg_min(launch_source_id, event_id) as launch_source_id,
                    min(event_id) as event_id
                from matched
                where work_number is not null
                group by run_id, work_number
            ) as matched
        join kernel_match using (run_id, launch_source_id, event_id)
    ),
    -- of each figure that of the first counter run that has it; what is told apart by type goes
    -- together
    merged as not materialized(
        select
            run_id,
            work_number,
            max(fit_count) as fit_count,
            arg_min(counted_ns, place) as counted_ns,
            max(flop_spread_ratio) as flop_spread_ratio,
            max(dram_spread_ratio) as dram_spread_ratio,
            arg_min({'flop':fp64_flop, 'reason':fp64_reason}, (fp64_flop is null, place)) as fp64,
            arg_min({'flop':fp32_flop, 'reason':fp32_reason}, (fp32_flop is null, place)) as fp32,
            arg_min(
                {
                    'packed':fp16_packed_flop,
                    'scalar':fp16_scalar_flop,
                    'arithmetic':fp16_arithmetic_flop,
                    'kind':fp16_kind,
                    'reason':fp16_reason
                },
                (fp16_scalar_flop is null, place)
            ) as fp16,
            arg_min_null(columns('^tensor_.*(flop|reason)$'), (tensor_flop is null, place)) as "\0",
            arg_min(
                {'bytes':dram_bytes, 'basis':dram_basis, 'reason':dram_reason},
                (dram_bytes is null, place)
            ) as dram,
            arg_min(
                {'paper':l2_paper_bytes, 'vendor':l2_vendor_bytes, 'reason':l2_reason},
                (l2_reason is not null, place)
            ) as l2,
            arg_min(
                {'paper':l1_paper_bytes, 'vendor':l1_vendor_bytes, 'reason':l1_reason},
                (l1_reason is not null, place)
            ) as l1,
            -- what none of them has; where each lacks another part of one figure, what the first
            -- lacks
            coalesce(
                nullif(
                    array_to_string(
                        list_reduce(
                            list(string_split(missing_metrics, ',') order by place) filter (
                                where missing_metrics is not null
                            ),
                            lambda one,
                            other:list_filter(one, lambda metric:list_contains(other, metric))
                        ),
                        ','
                    ),
                    ''
                ),
                arg_min(missing_metrics, place)
            ) as missing_metrics,
            shared_by_all(device_name) as counted_device_name,
            arg_min(columns('^own_|^occupancy_|_throughput_ratio$'), place) as "\0"
        from (select kinds.*, source_id as place from kinds)
        join mean using (run_id, source_id, match_index)
        group by run_id, work_number
    ),
    joined_run as not materialized(
        select distinct run_id from source_file where recording_kind = 'join'
    ),
    launches as not materialized(
        select
            launch.run_id,
            launch.source_id,
            launch.event_id,
            launch.name,
            launch.launch_count,
            launch.device_id,
            launch.dur_ns,
            device_known.device_name,
            device_known.compute_capability,
            match_kind,
            work_number,
            case
                when work_number is null
                then 'no counters: ' || coalesce(matched.reason, 'it came after the join')
            end as match_reason
        from kernel_launch as launch
        join joined_run using (run_id)
        left join
            matched
            on matched.run_id = launch.run_id
            and matched.launch_source_id = launch.source_id
            and matched.event_id = launch.event_id
        left join
            device_known
            on device_known.run_id = launch.run_id
            and device_known.source_id = launch.source_id
            and device_known.device_id is not distinct from launch.device_id
    )
select
    launches.run_id,
    launches.source_id,
    event_id,
    name,
    launch_count,
    cast(null as bigint) as launch_index,
    device_id,
    device_name,
    compute_capability,
    case when launches.work_number is not null then 'measured' end as provenance_kind,
    match_kind,
    fit_count,
    launch_count * counted_ns as counted_ns,
    flop_spread_ratio,
    dram_spread_ratio,
    match_reason,
    dur_ns,
    case when dur_ns is null then 'not in the timeline' end as dur_reason,
    launch_count * fp64.flop as fp64_flop,
    coalesce(match_reason, fp64.reason) as fp64_reason,
    launch_count * fp32.flop as fp32_flop,
    coalesce(match_reason, fp32.reason) as fp32_reason,
    launch_count * fp16.packed as fp16_packed_flop,
    launch_count * fp16.scalar as fp16_scalar_flop,
    launch_count * fp16.arithmetic as fp16_arithmetic_flop,
    fp16.kind as fp16_kind,
    coalesce(match_reason, fp16.reason) as fp16_reason,
    launch_count * columns('^tensor_.*flop$') as "\0",
    coalesce(match_reason, merged.tensor_reason) as tensor_reason,
    case
        when coalesce(fp64.flop, fp32.flop, fp16.arithmetic, merged.tensor_flop) is not null
        then
            launch_count * (
                coalesce(fp64.flop, 0)
                + coalesce(fp32.flop, 0)
                + coalesce(fp16.arithmetic, 0)
                + coalesce(merged.tensor_flop, 0)
            )
    end as known_flop,
    launch_count
    * (fp64.flop + fp32.flop + fp16.arithmetic + merged.tensor_flop) as total_arithmetic_flop,
    launch_count * (fp64.flop + fp32.flop + fp16.packed + merged.tensor_flop) as total_packed_flop,
    launch_count * (fp64.flop + fp32.flop + fp16.scalar + merged.tensor_flop) as total_scalar_flop,
    case
        when match_reason is not null
        then match_reason
        when fp32.flop is null
        then 'fp32: ' || fp32.reason
        when fp64.flop is null
        then 'fp64: ' || fp64.reason
        when fp16.scalar is null
        then 'fp16: ' || fp16.reason
        when merged.tensor_flop is null
        then 'tensor: ' || merged.tensor_reason
    end as total_reason,
    case
        when fp64.flop + fp32.flop + fp16.scalar + merged.tensor_flop is null then missing_metrics
    end as missing_metrics,
    launch_count * dram.bytes as dram_bytes,
    dram.basis as dram_basis,
    coalesce(match_reason, dram.reason) as dram_reason,
    launch_count * l2.paper as l2_paper_bytes,
    launch_count * l2.vendor as l2_vendor_bytes,
    coalesce(match_reason, l2.reason) as l2_reason,
    launch_count * l1.paper as l1_paper_bytes,
    launch_count * l1.vendor as l1_vendor_bytes,
    coalesce(match_reason, l1.reason) as l1_reason,
    -- what a launch could do at the clock of another device says nothing
    case when device_name = counted_device_name then columns('^own_') end as "\0",
    occupancy_ratio,
    compute_throughput_ratio,
    memory_throughput_ratio,
    dram_throughput_ratio
from launches
left join merged on merged.run_id = launches.run_id and merged.work_number = launches.work_number

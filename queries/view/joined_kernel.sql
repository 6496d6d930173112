-- purpose = "Every launch of a timeline that was joined to counters: its time as it ran there,
-- its operations and bytes by the counters, and what the match rests on."
-- source = "docs/metrics.md, section Counters joined to a timeline"
-- needs = ["kernel_match"]
-- empty_without = ["kernel_match"]
-- depends = ["counted_work", "kernel_launch", "device_known", "mean_count", "spread_count",
-- "shared_by_all"]
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- source_id = {type = "VARCHAR", doc = "source"}
-- event_id = {type = "BIGINT", doc = "place in the source"}
-- name = {type = "VARCHAR", doc = "kernel name, in full"}
-- launch_count = {type = "BIGINT", doc = "launches the row stands for"}
-- launch_index = {type = "BIGINT", doc = "the profiler's own number of the launch; NULL of a
-- timeline"}
-- device_id = {type = "BIGINT", doc = "device"}
-- device_name = {type = "VARCHAR", doc = "of the device; NULL if unknown"}
-- compute_capability = {type = "VARCHAR", doc = "of the device; NULL if unknown"}
-- provenance_kind = {type = "VARCHAR", doc = "measured: by hardware counters; NULL if a launch of
-- a timeline has none"}
-- match_kind = {type = "VARCHAR", doc = "what the match rests on: sequence, shape or name; of
-- several counter runs the weakest; NULL: no counters"}
-- fit_count = {type = "BIGINT", doc = "counter launches whose mean this is: 1 where order decides"}
-- counted_ns = {type = "BIGINT", doc = "duration under the counters (mean of those that fit)"}
-- flop_spread_ratio = {type = "DOUBLE", doc = "(most - least) / mean of the operations of those
-- that fit"}
-- dram_spread_ratio = {type = "DOUBLE", doc = "largest (max - min) / mean of their device memory
-- bytes"}
-- match_reason = {type = "VARCHAR", doc = "why there are no counters"}
-- dur_ns = {type = "BIGINT", doc = "duration in the timeline"}
-- dur_reason = {type = "VARCHAR", doc = "why it is NULL"}
-- fp64_flop = {type = "BIGINT", doc = "FP64 operations, not those of tensor cores"}
-- fp64_reason = {type = "VARCHAR", doc = "why it is NULL"}
-- fp32_flop = {type = "BIGINT", doc = "FP32 operations, not those of tensor cores"}
-- fp32_reason = {type = "VARCHAR", doc = "why it is NULL"}
-- fp16_packed_flop = {type = "BIGINT", doc = "FP16 operations, two for each instruction: 2 add +
-- 2 multiply + 4 FMA (the vendor's convention)"}
-- fp16_scalar_flop = {type = "BIGINT", doc = "FP16 operations, one for each instruction: add +
-- multiply + 2 FMA (the convention of Wang Y. 2020)"}
-- fp16_arithmetic_flop = {type = "BIGINT", doc = "FP16 operations as packed counts them, where
-- the instructions are work; 0 where they are moves or conversions"}
-- fp16_kind = {type = "VARCHAR", doc = "what the FP16 instructions are: work, moves or
-- conversions; NULL if none ran"}
-- fp16_reason = {type = "VARCHAR", doc = "why they are NULL"}
-- tensor_fp64_flop = {type = "BIGINT", doc = "tensor operations on FP64"}
-- tensor_tf32_flop = {type = "BIGINT", doc = "tensor operations on TF32"}
-- tensor_bf16_flop = {type = "BIGINT", doc = "tensor operations on BF16"}
-- tensor_fp16_flop = {type = "BIGINT", doc = "tensor operations on FP16"}
-- tensor_fp8_flop = {type = "BIGINT", doc = "tensor operations on FP8"}
-- tensor_fp4_flop = {type = "BIGINT", doc = "tensor operations on FP4 and FP6"}
-- tensor_mixed_flop = {type = "BIGINT", doc = "tensor operations of several types added up by the
-- tool"}
-- tensor_int_flop = {type = "BIGINT", doc = "tensor operations on integers; not in the sums, but
-- in the time at peak"}
-- tensor_flop = {type = "BIGINT", doc = "tensor operations of all floating-point types"}
-- tensor_reason = {type = "VARCHAR", doc = "why the sum is NULL"}
-- known_flop = {type = "BIGINT", doc = "all operations that were counted; FP16 as work"}
-- total_arithmetic_flop = {type = "BIGINT", doc = "all operations, FP16 as work alone; NULL
-- unless every precision was counted"}
-- total_packed_flop = {type = "BIGINT", doc = "all operations, FP16 packed; NULL unless every
-- precision was counted"}
-- total_scalar_flop = {type = "BIGINT", doc = "all operations, FP16 scalar; NULL unless every
-- precision was counted"}
-- total_reason = {type = "VARCHAR", doc = "which precision is missing, and why"}
-- missing_metrics = {type = "VARCHAR", doc = "what the profiler's --metrics has to name beside
-- for a total; NULL if nothing is missing"}
-- dram_bytes = {type = "BIGINT", doc = "bytes to and from device memory"}
-- dram_basis = {type = "VARCHAR", doc = "bytes, reads and writes, sectors (of 32 bytes) or rate
-- (times the duration)"}
-- dram_reason = {type = "VARCHAR", doc = "why they are NULL"}
-- l2_paper_bytes = {type = "BIGINT", doc = "L2 bytes as the papers count them: lts__t_bytes"}
-- l2_vendor_bytes = {type = "BIGINT", doc = "L2 bytes as the vendor's newer sections count them:
-- transfers to the crossbar x 32"}
-- l2_reason = {type = "VARCHAR", doc = "why both are NULL"}
-- l1_paper_bytes = {type = "BIGINT", doc = "L1 bytes as the papers count them: l1tex__t_bytes"}
-- l1_vendor_bytes = {type = "BIGINT", doc = "L1 bytes as the vendor's newer sections count them:
-- write-backs x 128"}
-- l1_reason = {type = "VARCHAR", doc = "why both are NULL"}
-- own_fp64_flop_per_s = {type = "DOUBLE", doc = "what this launch could do at its clock, by the
-- report's peak_sustained: FP64"}
-- own_fp32_flop_per_s = {type = "DOUBLE", doc = "the same: FP32"}
-- own_fp16_flop_per_s = {type = "DOUBLE", doc = "the same: FP16, packed"}
-- own_tensor_fp64_flop_per_s = {type = "DOUBLE", doc = "the same: tensor operations on FP64"}
-- own_tensor_tf32_flop_per_s = {type = "DOUBLE", doc = "the same: tensor operations on TF32"}
-- own_tensor_bf16_flop_per_s = {type = "DOUBLE", doc = "the same: tensor operations on BF16"}
-- own_tensor_fp16_flop_per_s = {type = "DOUBLE", doc = "the same: tensor operations on FP16"}
-- own_tensor_fp8_flop_per_s = {type = "DOUBLE", doc = "the same: tensor operations on FP8"}
-- own_tensor_fp4_flop_per_s = {type = "DOUBLE", doc = "the same: tensor operations on FP4 and FP6"}
-- own_tensor_int8_flop_per_s = {type = "DOUBLE", doc = "the same: tensor operations on integers"}
-- own_dram_bytes_per_s = {type = "DOUBLE", doc = "the same: device memory, at its own clock"}
-- own_l2_paper_bytes_per_s = {type = "DOUBLE", doc = "the same: L2, lts__t_bytes"}
-- own_l2_vendor_bytes_per_s = {type = "DOUBLE", doc = "the same: L2, transfers to the crossbar x
-- 32"}
-- own_l1_paper_bytes_per_s = {type = "DOUBLE", doc = "the same: L1, l1tex__t_bytes"}
-- own_l1_vendor_bytes_per_s = {type = "DOUBLE", doc = "the same: L1, write-backs x 128"}
-- occupancy_ratio = {type = "DOUBLE", doc = "achieved occupancy"}
-- compute_throughput_ratio = {type = "DOUBLE", doc = "the vendor's own share of peak: compute"}
-- memory_throughput_ratio = {type = "DOUBLE", doc = "the vendor's own share of peak: memory"}
-- dram_throughput_ratio = {type = "DOUBLE", doc = "the vendor's own share of peak: device memory"}
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
            any_value(
                columns('^(fp64|fp32|fp16|tensor|dram|l2|l1)_reason$|^fp16_kind$|^dram_basis$')
            ) as "\0",
            any_value(missing_metrics) as missing_metrics,
            any_value(device_name) as device_name
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

-- purpose = "Utilization of each compute ceiling by each launch with counters: operations /
-- possible operations in its duration."
-- source = "Zhu 2018 (TBD), eq. 2; the launch's own peak: NVIDIA Nsight Compute, section
-- SpeedOfLight_RooflineChart"
-- needs = ["kernel_counter"]
-- depends = ["kernel_work", "device_ceiling", "device_known", "of_ceiling", "possible_ratio",
-- "above_peak"]
-- empty_without = ["kernel_counter", "match_counter", "kernel_match"]
-- columns = "run_id source_id event_id name ceiling_name work_flop dur_ns peak_flop_per_s
-- peak_source utilization_ratio own_peak_flop_per_s own_utilization_ratio reason"
-- ceiling_name = "fp64, fp32, fp16 (packed, only as work) or tensor_…"
-- work_flop = "BIGINT: operations of that kind"
-- dur_ns = "duration"
-- peak_flop_per_s = "ceiling of the device, from the user or its data sheet"
-- utilization_ratio = "rate / peak_flop_per_s; NULL above 1.05: the data or the peak is wrong"
-- own_peak_flop_per_s = "DOUBLE: ceiling at the clock of the launch, if in the report"
-- own_utilization_ratio = "DOUBLE: rate / own_peak_flop_per_s; NULL above 1.05"
with
    kinds as (
        select
            work.run_id,
            work.source_id,
            work.event_id,
            work.name,
            work.device_id,
            work.dur_ns,
            work.dur_reason,
            kind.ceiling_name,
            of_ceiling(
                kind.ceiling_name,
                fp64_flop,
                fp32_flop,
                fp16_arithmetic_flop,
                tensor_fp64_flop,
                tensor_tf32_flop,
                tensor_bf16_flop,
                tensor_fp16_flop,
                tensor_fp8_flop,
                tensor_fp4_flop,
                tensor_int_flop
            ) as work_flop,
            case
                kind.ceiling_name
                when 'fp64'
                then fp64_reason
                when 'fp32'
                then fp32_reason
                when 'fp16'
                then fp16_reason
                else tensor_reason
            end as work_reason,
            of_ceiling(
                kind.ceiling_name,
                own_fp64_flop_per_s,
                own_fp32_flop_per_s,
                own_fp16_flop_per_s,
                own_tensor_fp64_flop_per_s,
                own_tensor_tf32_flop_per_s,
                own_tensor_bf16_flop_per_s,
                own_tensor_fp16_flop_per_s,
                own_tensor_fp8_flop_per_s,
                own_tensor_fp4_flop_per_s,
                own_tensor_int8_flop_per_s
            ) as own_peak_flop_per_s
        from kernel_work as work
        cross join
            (
                select
                    unnest(
                        [
                            'fp64',
                            'fp32',
                            'fp16',
                            'tensor_fp64',
                            'tensor_tf32',
                            'tensor_bf16',
                            'tensor_fp16',
                            'tensor_fp8',
                            'tensor_fp4',
                            'tensor_int8'
                        ]
                    ) as ceiling_name
            ) as kind
    )
select
    kinds.run_id,
    kinds.source_id,
    kinds.event_id,
    kinds.name,
    kinds.ceiling_name,
    kinds.work_flop,
    kinds.dur_ns,
    device_ceiling.value as peak_flop_per_s,
    device_ceiling.source_text as peak_source,
    possible_ratio(kinds.work_flop * 1e9, kinds.dur_ns * device_ceiling.value) as utilization_ratio,
    kinds.own_peak_flop_per_s,
    possible_ratio(
        kinds.work_flop * 1e9, kinds.dur_ns * kinds.own_peak_flop_per_s
    ) as own_utilization_ratio,
    case
        when kinds.work_flop is null
        then coalesce(kinds.work_reason, 'not_collected')
        when kinds.dur_ns is null
        then 'duration: ' || kinds.dur_reason
        when kinds.dur_ns = 0
        then 'duration of zero'
        when device_ceiling.value is null and device_known.device_name is null
        then 'device unknown'
        when device_ceiling.value is null
        then 'no peak for this device'
        else
            coalesce(
                above_peak(
                    ratio(kinds.work_flop * 1e9, kinds.dur_ns * device_ceiling.value),
                    'operations (measured)',
                    'the peak ' || kinds.ceiling_name
                ),
                above_peak(
                    ratio(kinds.work_flop * 1e9, kinds.dur_ns * kinds.own_peak_flop_per_s),
                    'operations (measured)',
                    'the peak ' || kinds.ceiling_name || ' at the clock of the launch'
                )
            )
    end as reason
from kinds
left join
    device_known
    on device_known.run_id = kinds.run_id
    and device_known.source_id = kinds.source_id
    and device_known.device_id is not distinct from kinds.device_id
left join
    device_ceiling
    on device_ceiling.run_id = kinds.run_id
    and device_ceiling.source_id = kinds.source_id
    and device_ceiling.device_id is not distinct from kinds.device_id
    and device_ceiling.ceiling_kind = 'compute'
    and device_ceiling.ceiling_name = kinds.ceiling_name
-- a kind of tensor operation that neither the report nor the device has is no question
where kinds.work_flop is not null or kinds.ceiling_name in ('fp64', 'fp32', 'fp16')

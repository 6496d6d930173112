-- purpose = "Peaks of each device of each source: from the user, else of the known device, else
-- from the profiler."
-- source = "tables assumption, model_ceiling and device, each figure with its source"
-- needs = ["device"]
-- depends = ["device_known", "device_listed"]
-- is_kept = true
-- columns = "run_id source_id device_id device_name ceiling_kind-launches ceiling_name value unit
-- origin_kind source_text model_name reported_value reported_ratio"
-- ceiling_name = "e.g. fp32, tensor_fp16, dram; reported: the profiler does not name it"
-- unit = "flop/s, bytes/s or ns"
-- source_text = "source of the value; and the profiler's own value, if far from it"
-- reported_value = "DOUBLE: the profiler's own value, if more than 1.3 times this one or less
-- than 1/1.3 of it; for compute it is compared with tensor_bf16, else tensor_fp16"
with
    -- in lists, as device_known takes long to plan: it is joined once
    given as (
        select
            run_id,
            source_id,
            list(
                {
                    'ceiling_kind':assumption_kind,
                    'ceiling_name':name,
                    'value':value,
                    'unit':unit,
                    'origin_kind':'user',
                    'source_text':source_text
                }
            ) as ceilings
        from assumption
        where assumption_kind in ('compute', 'bandwidth', 'launch_overhead')
        group by run_id, source_id
    ),
    modelled as (
        select
            model_name,
            list(
                {
                    'ceiling_kind':ceiling_kind,
                    'ceiling_name':ceiling_name,
                    'value':value,
                    'unit':unit,
                    'origin_kind':origin_kind,
                    'source_text':source_text
                }
            ) as ceilings
        from model_ceiling
        group by model_name
    ),
    reported as (
        select
            run_id,
            source_id,
            device_id,
            reported_flop_per_s,
            reported_bytes_per_s,
            [
                {
                    'ceiling_kind':'compute',
                    'ceiling_name':'reported',
                    'value':reported_flop_per_s,
                    'unit':'flop/s',
                    'origin_kind':'reported',
                    'source_text':'the profiler''s own table'
                },
                {
                    'ceiling_kind':'bandwidth',
                    'ceiling_name':'dram',
                    'value':reported_bytes_per_s,
                    'unit':'bytes/s',
                    'origin_kind':'reported',
                    'source_text':'the profiler''s own table'
                }
            ] as ceilings
        from device_listed
        where reported_flop_per_s > 0 or reported_bytes_per_s > 0
    ),
    offered as (
        select
            device_known.run_id,
            device_known.source_id,
            device_known.device_id,
            device_known.device_name,
            device_known.model_name,
            reported.reported_flop_per_s,
            reported.reported_bytes_per_s,
            unnest(
                list_concat(
                    -- what is given of another device is not of this one
                    case when device_known.ignored_name is null then given.ceilings end,
                    modelled.ceilings,
                    reported.ceilings
                ),
                recursive := true
            )
        from device_known
        left join
            given on given.run_id = device_known.run_id and given.source_id = device_known.source_id
        left join modelled on modelled.model_name = device_known.model_name
        left join
            reported
            on reported.run_id = device_known.run_id
            and reported.source_id = device_known.source_id
            and reported.device_id is not distinct from device_known.device_id
    ),
    chosen as (
        from offered
        where origin_kind <> 'reported' or value > 0
        qualify
            -- only where nobody says more
            (
                origin_kind <> 'reported'
                or bool_and(origin_kind = 'reported') over (
                    partition by run_id, source_id, device_id, ceiling_kind
                )
            )
            and row_number() over (
                partition by run_id, source_id, device_id, ceiling_kind, ceiling_name
                order by origin_kind <> 'user', source_text, value
            )
            = 1
    ),
    -- what the user says counts before both
    compared as (
        select
            *,
            case
                when
                    origin_kind in ('user', 'reported')
                    or ceiling_name not in ('tensor_bf16', 'tensor_fp16', 'dram')
                then null
                when ceiling_kind = 'compute' and reported_flop_per_s > 0
                then reported_flop_per_s
                when ceiling_kind = 'bandwidth' and reported_bytes_per_s > 0
                then reported_bytes_per_s
            end as compared_value,
            ratio(compared_value, value) as compared_ratio,
            greatest(compared_ratio, ratio(1, compared_ratio)) > 1.3
            and row_number() over (
                partition by run_id, source_id, device_id, ceiling_kind
                order by compared_value is null, ceiling_name
            )
            = 1 as is_in_conflict
        from chosen
    )
select
    run_id,
    source_id,
    device_id,
    device_name,
    ceiling_kind,
    ceiling_name,
    value,
    unit,
    origin_kind,
    source_text || case
        when is_in_conflict then printf('; the profiler reports %.4g of it', compared_ratio) else ''
    end as source_text,
    model_name,
    case when is_in_conflict then compared_value end as reported_value,
    case when is_in_conflict then compared_ratio end as reported_ratio
from compared

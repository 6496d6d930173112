-- purpose = "Peaks of the processor that ran the operators of a source, from the user or the known
-- processor that the user names."
-- source = "tables assumption and model_ceiling"
-- needs = ["assumption"]
-- depends = ["device_key"]
-- parameters = "wanted_run"
-- columns = "source_id core_count-processor peak_flop_per_s-processor peak_bytes_per_s-processor"
with
    model_peaks as (
        select
            model_name,
            max(value) filter (where starts_with(ceiling_name, 'fp32')) as peak_flop_per_s,
            any_value(value) filter (where ceiling_name = 'dram') as peak_bytes_per_s
        from model_ceiling
        group by model_name
    ),
    given as (
        select
            source_id,
            max(value) filter (where starts_with(name, 'fp32')) as peak_flop_per_s,
            any_value(value) filter (where name = 'dram') as peak_bytes_per_s,
            try_cast(
                any_value(value) filter (where assumption_kind = 'core_count') as bigint
            ) as core_count,
            any_value(name) filter (where assumption_kind = 'device') as device_name
        from assumption
        where wanted_run is null or run_id = wanted_run
        group by source_id
    )
select
    given.source_id,
    coalesce(given.core_count, device_model.core_count) as core_count,
    coalesce(given.peak_flop_per_s, model_peaks.peak_flop_per_s) as peak_flop_per_s,
    coalesce(given.peak_bytes_per_s, model_peaks.peak_bytes_per_s) as peak_bytes_per_s
from given
-- other devices are no processors
left join
    device_model
    on device_model.model_key = device_key(given.device_name)
    and device_model.core_count is not null
left join model_peaks on model_peaks.model_name = device_model.model_name

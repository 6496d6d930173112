-- purpose = "The modeled work of operators, and of modules, once in each call: by the name of
-- either; of runs without joined counters."
-- upon = "op_time"
select
    name,
    module_path,
    grouping(name) = 0 as is_operator,
    case
        when bool_and(has_kernels)
        then 'kernels'
        when bool_or(has_kernels)
        then 'mixed'
        else 'host operators'
    end as basis,
    if(count(coalesce(flop, bytes)) > 0, 'modelled', null) as provenance_kind,
    sum(flop) as total_flop,
    sum(bytes) as total_bytes,
    if(count(flop + bytes) > 0, sum(if(flop is null or bytes is null, null, total_ns)), 0)
    / nullif(sum(total_ns), 0) as known_ratio,
    if(
        sum(if(bytes is null, null, flop)) > 0,
        sum(if(bytes is null, null, flop)) / sum(if(flop is null, null, bytes)),
        null
    ) as intensity_flop_per_byte,
    sum(if(total_ns > 0, flop, null))
    / nullif(sum(if(flop is null, null, total_ns)), 0)
    * 1e9 as achieved_flop_per_s,
    sum(if(total_ns > 0, bytes, null))
    / nullif(sum(if(bytes is null, null, total_ns)), 0)
    * 1e9 as achieved_bytes_per_s
from op_time
where not exists (from kernel_match where run_id = $run_id)
group by grouping sets ((name), (module_path))

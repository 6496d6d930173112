-- purpose = "Products of 16 bits with K or N that eight does not divide take longer than the roof."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "misaligned_product"
-- keys = ["source_id", "name", "input_dims"]
-- needs = ["op_call", "attribution", "calling_context"]
-- upon = "modeled_op"
-- is_partial = true
with
    ran as (
        select source_id, context_id, any_value(device_id) as device_id, sum(dur_ns) as work_ns
        from attribution
        where run_id = $run_id
        group by source_id, context_id
        having count(distinct device_id) = 1 and bool_or(work_kind = 'kernel')
    ),
    called as (
        select source_id, context_id, count(*) filter (where work_count > 0) as calls
        from op_call
        where run_id = $run_id
        group by source_id, context_id
    )
select
    source_id,
    op_name as name,
    replace(input_dims, ' ', '') as input_dims,
    floor(
        round(
            sum(work_ns)
            - sum(calls * 1e9 * greatest(flop / peaks[unit_name], all_bytes / peaks['dram'])),
            3
        )
    ) as win_ns,
    sum(calls) as call_count,
    sum(work_ns) as total_ns,
    sum(calls * 1e9 * greatest(flop / peaks[unit_name], all_bytes / peaks['dram']))
    / sum(work_ns) as roof_ratio
from modeled_op
join ran using (source_id, context_id)
join called using (source_id, context_id)
join known_peak using (source_id, device_id)
where
    kind = 'product'
    and unit_name <> 'fp32'
    and (dims[2][1] % 8 <> 0 or dims[2][2] % 8 <> 0)
    and peaks[unit_name] is not null
group by source_id, op_name, input_dims
having win_ns > 0

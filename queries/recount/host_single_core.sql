-- purpose = "Products of matrices on one core take longer than on all of the processor."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "host_single_core"
-- keys = ["source_id"]
-- needs = ["op_call", "calling_context", "assumption"]
-- upon = "host_op_call"
-- is_partial = true
with
    peak as (
        select
            source_id,
            max(value) filter (where name = 'fp32') as all_peak,
            max(value) filter (where assumption_kind = 'core_count') as cores
        from assumption
        where run_id = $run_id
        group by source_id
    ),
    products as (
        select
            *,
            try_cast(input_dims as bigint[][]) as dims,
            2.0 * dims[1][1] * dims[1][2] * dims[2][2] as flop
        from host_op_call
        where input_types = '["float", "float"]' and name = 'aten::mm'
    )
select
    source_id,
    least(
        floor(round(sum(self_ns) - sum(flop) * 1e9 / all_peak, 3)), any_value(elapsed_ns)
    ) as win_ns,
    count(*) as call_count,
    sum(self_ns) as total_ns,
    'aten::mm' as name,
    cores as core_count,
    all_peak / cores as core_flop_per_s,
    sum(flop) * 1e9 / sum(self_ns) as achieved_flop_per_s,
    any_value(elapsed_ns) as elapsed_ns
from products
join peak using (source_id)
where
    -- nothing but such products that compute
    source_id not in (select source_id from host_op_call where name <> 'aten::mm')
    and source_id not in (select source_id from products where least(dims[1][1], dims[2][2]) < 500)
group by source_id, cores, all_peak
having cores > 1 and achieved_flop_per_s * cores between 0.4 * all_peak and 1.05 * all_peak

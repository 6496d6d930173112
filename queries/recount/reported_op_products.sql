-- purpose = "Products of a profiler's table have the share of the highest peak of their type."
-- source = "docs/metrics.md, section Which peak"
-- report = "reported_op_breakdown"
-- keys = ["source_id", "device_id", "program_name", "name"]
-- needs = ["op_stat", "device"]
-- upon = "known_peak"
-- is_partial = true
with
    typed as (
        select
            *,
            case
                when
                    contains(hlo_text, '(f32[')
                    and not regexp_matches(hlo_text, '\W(bf16|f16|f64)\[')
                then coalesce(peaks['tensor_tf32'], peaks['tensor_fp32'], peaks['fp32'])
                when
                    contains(hlo_text, '(bf16[')
                    and not regexp_matches(hlo_text, '\W(f32|f16|f64)\[')
                then peaks['tensor_bf16']
            end as highest
        from op_stat
        join known_peak using (source_id, device_id)
        where
            run_id = $run_id
            and side_kind = 'device'
            and op_kind = 'hlo'
            and self_ns = dur_ns
            and dur_ns > 0
            and flop_count > 0
            and regexp_matches(name, '^%?(dot|convolution|cudnn-conv|gemm_fusion)')
            and (select count(distinct source_id) = 1 from op_stat where run_id = $run_id)
    )
select
    source_id,
    device_id,
    program_name,
    name,
    sum(flop_count) / sum(highest * dur_ns) * 1e9 as least_utilization_ratio
from typed
group by source_id, device_id, program_name, name
having
    count(*) = 1
    and bool_and(flop_count <= highest * dur_ns * 1e-9)
    -- smaller ones are not shown
    and sum(self_ns) > (
        select 0.01 * sum(self_ns)
        from op_stat
        where run_id = $run_id and side_kind = 'device' and op_kind = 'hlo'
    )

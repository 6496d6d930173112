-- purpose = "Products of a profiler's table have the shares of the lowest peak of their type that
-- they are not above, and of the highest."
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
                then [peaks['fp32'], peaks['tensor_fp32'], peaks['tensor_tf32']]
                when
                    contains(hlo_text, '(bf16[')
                    and not regexp_matches(hlo_text, '\W(f32|f16|f64)\[')
                then [peaks['tensor_bf16']]
            end as able
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
    min(1e9 * flop_count / dur_ns) as achieved_flop_per_s,
    achieved_flop_per_s / list_max(any_value(able)) as least_utilization_ratio,
    -- clocks can be a little above those of the data sheet
    achieved_flop_per_s / list_min(
        list_filter(any_value(able), lambda peak:achieved_flop_per_s <= 1.05 * peak)
    ) as utilization_ratio
from typed
group by source_id, device_id, program_name, name
having
    count(*) = 1
    and least_utilization_ratio <= 1
    -- smaller ones are not shown
    and sum(self_ns) > (
        select 0.01 * sum(self_ns)
        from op_stat
        where run_id = $run_id and side_kind = 'device' and op_kind = 'hlo'
    )

-- purpose = "Operators by the profiler's category, with time, work and what bounds them."
-- source = "Wang Y. E. 2020 (ParaDnn), sect. 4.2: input fusion, loop fusion, data formatting …;
-- docs/metrics.md, section Operators"
-- topic = "operators"
-- needs = ["op_stat"]
-- depends = ["reported_op_figures"]
-- parameters = "run_id op_kind side scope"
-- columns = "category_name op_class-most share_ratio-self self_ns op_count occurrence_count
-- total_flop-reported total_bytes-reported intensity_flop_per_byte bound_kind nearest_name
-- roof_ratio source_id-summed device_id-summed reason-bound op_kind"
-- answer = "share_ratio self_ns bound_kind roof_ratio"
-- category_name = "category; type if an operator has none"
select
    group_name as category_name,
    op_class,
    share_ratio,
    self_ns,
    op_count,
    occurrence_count,
    total_flop,
    total_bytes,
    intensity_flop_per_byte,
    bound_kind,
    nearest_name,
    roof_ratio,
    source_id,
    device_id,
    reason,
    op_kind
from reported_op_figures($run_id, $op_kind, $side, 'category', $scope, null)
order by source_id, device_id nulls first, self_ns desc nulls last, category_name

-- purpose = "Time of operators above what their operations and minimum bytes take at the roof,
-- modeled from shapes, for those far from it and without counters; of softmax and normalization,
-- whose operations are few and not counted, by bytes alone."
-- source = "Wang Y. 2020 (Time-Based Roofline), eq. 1; docs/metrics.md, sections Operators of a
-- timeline and Findings"
-- needs = ["op_call", "attribution", "calling_context"]
-- depends = ["attributed_op_work", "step_window", "whole_ns"]
-- parameters = "run_id phase latency_below"
-- columns = "name-operator win_ns-roof call_count-work kernel_count total_ns-operators
-- roof_ratio-operators elapsed_ns source_id-rank device_id-none"
-- total_ns-operators = "BIGINT: time of the kernels"
-- roof_ratio-operators = "DOUBLE: modeled time at the roof / time of the kernels"
-- finding.title = "Operators take far longer than their shapes need"
-- finding.evidence = "{call_count:call} with {kernel_count:kernel}, {total_ns}; most to win in
-- {name}, at {roof_ratio} of its roof by its shapes"
-- finding.action = "Fuse small operators or give each more work; for large ones, try another
-- layout, type or library, and record counters (ncu) to see why."
-- finding.command = "query ops --param by=shape"
-- finding.sums = ["call_count", "kernel_count", "total_ns"]
-- finding.pool = "compute"
with
    operators as (
        select *, greatest(compute_ns, bandwidth_ns) as roof_ns
        from attributed_op_work($run_id, $phase, 'best')
        where
            provenance_kind = 'modelled'
            and kernel_count > 0
            -- copies between host and device have another roof; others only set memory
            and (coalesce(copy_count, 0) = 0 or family_name <> 'data movement')
            and bandwidth_ns is not null
            -- a few operations per number, which are not counted: fused forms reach the bytes
            and (
                compute_ns is not null
                or total_flop is null
                and family_name in ('normalization', 'softmax')
            )
            and roof_ns < $latency_below * work_ns
    )
select
    operators.name,
    whole_ns(
        least(sum(work_ns) - sum(roof_ns), any_value(windows.end_ns - windows.start_ns))
    ) as win_ns,
    cast(sum(call_count) as bigint) as call_count,
    cast(sum(kernel_count) as bigint) as kernel_count,
    cast(sum(work_ns) as bigint) as total_ns,
    ratio(sum(roof_ns), sum(work_ns)) as roof_ratio,
    any_value(windows.end_ns - windows.start_ns) as elapsed_ns,
    operators.source_id,
    cast(null as bigint) as device_id
from operators
join step_window($run_id, $phase) as windows on windows.source_id = operators.source_id
group by operators.source_id, operators.name
order by win_ns desc, operators.source_id, operators.name

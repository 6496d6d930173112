-- purpose = "Time that all cores would save in FP32 products and convolutions that run as fast as
-- one core can: between 0.4 and 1.05 of its share of the peak."
-- source = "docs/metrics.md, sections Findings and Modelled work; a trace does not tell threads
-- within an operator"
-- needs = ["op_call", "calling_context"]
-- depends = ["host_work", "max_share", "whole_ns"]
-- parameters = "run_id phase"
-- columns = "win_ns call_count total_ns-operators name-most core_count core_flop_per_s
-- achieved_flop_per_s elapsed_ns-window source_id-rank device_id-none"
-- win_ns = "BIGINT: their time, less that of their operations at the peak of all cores"
-- total_ns-operators = "BIGINT: time of these products"
-- name-most = "VARCHAR: operator with most of it"
-- core_count = "BIGINT: cores of the processor"
-- core_flop_per_s = "DOUBLE: FP32 peak of one core"
-- finding.title = "Products run only as fast as one core can"
-- finding.evidence = "{call_count:call}, {total_ns}, most in {name}, at {achieved_flop_per_s}; one
-- of the {core_count:core} reaches {core_flop_per_s} at most"
-- finding.action = "Let more threads compute: torch.set_num_threads(), OMP_NUM_THREADS, the CPUs
-- that the process may use (taskset, the limits of a container)."
-- finding.command = "query ops"
-- finding.pool = "steps"
with
    named as (
        select
            source_id,
            name,
            sum(total_ns) as total_ns,
            sum(compute_ns) as compute_ns,
            sum(call_count) as call_count,
            sum(total_flop) as total_flop,
            any_value(core_count) as core_count,
            any_value(peak_flop_per_s) as all_flop_per_s,
            any_value(elapsed_ns) as elapsed_ns
        from host_work($run_id, $phase)
        where
            not has_launches and is_heavy and precision_name = 'fp32' and compute_ns >= bandwidth_ns
        group by source_id, name
    ),
    product as (
        select
            source_id,
            cast(sum(total_ns) as bigint) as total_ns,
            sum(compute_ns) as compute_ns,
            cast(sum(call_count) as bigint) as call_count,
            arg_min(name, (- total_ns, name)) as name,
            any_value(core_count) as core_count,
            any_value(all_flop_per_s) as all_flop_per_s,
            ratio(sum(total_flop) * 1e9, sum(total_ns)) as achieved_flop_per_s,
            any_value(elapsed_ns) as elapsed_ns
        from named
        group by source_id
    )
select
    least(whole_ns(total_ns - compute_ns), elapsed_ns) as win_ns,
    call_count,
    total_ns,
    name,
    core_count,
    ratio(all_flop_per_s, core_count) as core_flop_per_s,
    achieved_flop_per_s,
    elapsed_ns,
    source_id,
    cast(null as bigint) as device_id
from product
where
    core_count > 1
    and ratio(achieved_flop_per_s * core_count, all_flop_per_s) between 0.4 and max_share()
order by win_ns desc, source_id

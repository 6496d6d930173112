-- purpose = "Time of operators on a processor above what their bytes take, for those that do fewer
-- operations per byte than it can: left of the ridge of its roofline."
-- source = "Williams 2009 (Roofline); docs/metrics.md, section Findings"
-- needs = ["op_call", "calling_context"]
-- depends = ["host_work", "whole_ns"]
-- parameters = "run_id phase"
-- columns = "name-operator win_ns call_count total_ns-operators
-- intensity_flop_per_byte-operators ridge_flop_per_byte elapsed_ns-window source_id-rank
-- device_id-none"
-- win_ns = "BIGINT: their time, less their minimum bytes at the peak of memory"
-- total_ns-operators = "BIGINT: time of these operators"
-- intensity_flop_per_byte-operators = "DOUBLE: their operations per byte"
-- ridge_flop_per_byte = "DOUBLE: operations per byte above which the processor computes"
-- finding.title = "Operators are bound by memory, not by computing"
-- finding.evidence = "{call_count:call}, {total_ns}; most to win in {name}, of
-- {intensity_flop_per_byte}: the processor needs {ridge_flop_per_byte} to compute at its peak"
-- finding.action = "Move fewer bytes: fuse operators (torch.compile), work in place, use 16-bit
-- types; batch products of a few rows."
-- finding.command = "query ops"
-- finding.sums = ["call_count", "total_ns"]
-- finding.pool = "steps"
select
    name,
    least(whole_ns(sum(total_ns) - sum(bandwidth_ns)), any_value(elapsed_ns)) as win_ns,
    cast(sum(call_count) as bigint) as call_count,
    cast(sum(total_ns) as bigint) as total_ns,
    ratio(sum(total_flop), sum(total_bytes)) as intensity_flop_per_byte,
    ratio(any_value(peak_flop_per_s), any_value(peak_bytes_per_s)) as ridge_flop_per_byte,
    any_value(elapsed_ns) as elapsed_ns,
    source_id,
    cast(null as bigint) as device_id
from host_work($run_id, $phase)
where not has_launches and compute_ns < bandwidth_ns and bandwidth_ns < total_ns
group by source_id, name
order by win_ns desc, source_id, name

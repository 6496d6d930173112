-- purpose = "Layers that a framework timed have the times in its log."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "layers"
-- keys = ["net_index", "layer_path"]
-- needs = ["layer_stat"]
-- is_partial = true
-- skips_unknown = true
select
    net_index,
    name as layer_path,
    max(dur_ns) filter (where phase_kind = 'forward') as forward_ns,
    max(dur_ns) filter (where phase_kind = 'backward') as backward_ns
from layer_stat
where run_id = $run_id and name is not null
group by net_index, name
having
    min(statistic_kind) = 'mean'
    and max(statistic_kind) = 'mean'
    and count(*) = count(distinct phase_kind)
    -- runs in one log are measurements of one network
    and (select count(distinct(source_id, net_index)) from layer_stat where run_id = $run_id) = 1

-- purpose = "Layers of a run beside no other have the times in its log."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "layer_comparison"
-- keys = ["net_index", "layer_path"]
-- needs = ["layer_stat"]
-- is_partial = true
-- skips_unknown = true
with
    stat as (
        select
            net_index,
            coalesce(name, '(all)') as layer_path,
            dur_ns,
            if(name is null and phase_kind is null, 'whole', phase_kind) as kind
        from layer_stat
        where run_id = $run_id and statistic_kind = 'mean'
    ),
    layer as (
        select
            net_index,
            layer_path,
            sum(dur_ns) filter (where kind = 'forward') as forward_ns,
            sum(dur_ns) filter (where kind = 'backward') as backward_ns,
            sum(dur_ns) filter (where kind = 'whole') as whole_ns
        from stat
        group by net_index, layer_path
    ),
    -- what is in a pass and in no layer counts for all
    whole as (
        select
            net_index,
            sum(forward_ns) filter (where layer_path <> '(all)') as layers_forward_ns,
            sum(backward_ns) filter (where layer_path <> '(all)') as layers_backward_ns,
            greatest(
                layers_forward_ns, max(forward_ns) filter (where layer_path = '(all)')
            ) as forward_ns,
            greatest(
                layers_backward_ns, max(backward_ns) filter (where layer_path = '(all)')
            ) as backward_ns,
            max(whole_ns) as whole_ns
        from layer
        group by net_index
    ),
    line as (
        select net_index, layer_path, false as is_total, forward_ns, backward_ns, null as whole_ns
        from layer
        where layer_path <> '(all)'
        union all
        select net_index, '(all)', true, forward_ns, backward_ns, whole_ns
        from whole
    )
select
    net_index,
    layer_path,
    is_total,
    forward_ns,
    backward_ns,
    greatest(coalesce(forward_ns, 0) + coalesce(backward_ns, 0), whole_ns) as step_ns,
    if(forward_ns > 0, 1, null) as forward_factor,
    if(backward_ns > 0, 1, null) as backward_factor,
    if(step_ns > 0, 1, null) as step_factor,
    1 as run_count
from line
where
    (
        select
            count(distinct(source_id, net_index)) = 1
            and count(*) filter (where statistic_kind <> 'mean' and name is not null) = 0
            and count(*) filter (where statistic_kind = 'mean')
            = count(distinct(coalesce(name, ''), coalesce(phase_kind, ''))) filter (
                where statistic_kind = 'mean'
            )
        from layer_stat
        where run_id = $run_id
    )

-- purpose = "Layers of several runs side by side: forward and backward time per step, and the
-- factor to the baseline."
-- source = "Awan 2017, sect. 4.3 (Fig. 3 to 7): layers and passes by platform"
-- topic = "comparison"
-- needs = ["calling_context or layer_stat"]
-- depends = ["layer_figures", "run_group", "group_of", "whole_sum", "first_reason"]
-- parameters = "by label baseline runs run_ids layers phase depth"
-- by = {doc = "what to compare: runs, or values of a label", default = "run", choices = ["run",
-- "label"]}
-- baseline = {type = "VARCHAR", doc = "baseline run or label value; default: the first", optional
-- = true}
-- layers = {type = "VARCHAR", doc = "layer paths; * matches any text", default = "*"}
-- columns = "layer_path name forward_ns backward_ns step_ns forward_factor backward_factor
-- step_factor reason run_count net_index is_total"
-- layer_path = "layer, or modules joined by /; (all): all layers"
-- name = "run or label value"
-- forward_ns = "DOUBLE: forward time per step; mean over several runs"
-- backward_ns = "DOUBLE: backward time per step"
-- step_ns = "DOUBLE: forward, backward and other time per step"
-- forward_factor = "DOUBLE: forward_ns / forward_ns of the baseline"
-- backward_factor = "DOUBLE: backward_ns / backward_ns of the baseline"
-- step_factor = "DOUBLE: step_ns / step_ns of the baseline"
-- run_count = "BIGINT: runs in the mean"
with
    named as (
        select
            run_group.run_id,
            run_group.label_number,
            case
                when $by = 'label' and $label is null
                then error('by=label needs label=NAME')
                else group_of($by, null, run_group.title, run_group.label_value)
            end as name
        from run_group(null, $by, $label) as run_group
        where
            run_group.title glob $runs
            and ($run_ids is null or list_contains(string_split($run_ids, ','), run_group.run_id))
    ),
    layers as (
        select
            named.name,
            named.label_number,
            figures.run_id,
            coalesce(figures.net_index, 0) as net_index,
            figures.layer_path,
            figures.layer_rank,
            figures.forward_step_ns,
            figures.backward_step_ns,
            figures.step_ns,
            case
                when figures.basis = 'caffe time'
                then figures.reason
                else 'no steps: a recording of another length cannot be compared'
            end as reason
        from layer_figures(null, $phase, $depth) as figures
        join named on named.run_id = figures.run_id
        where named.name is not null and figures.layer_path glob $layers
    ),
    every as (
        select *, false as is_total
        from layers
        union all by name
        select
            name,
            any_value(label_number) as label_number,
            run_id,
            net_index,
            '(all)' as layer_path,
            true as is_total,
            case
                when bool_and(step_ns is not null) then sum(forward_step_ns)
            end as forward_step_ns,
            case
                when bool_and(step_ns is not null) then sum(backward_step_ns)
            end as backward_step_ns,
            whole_sum(step_ns) as step_ns,
            min(reason) filter (where step_ns is null) as reason
        from layers
        group by name, run_id, net_index
    ),
    grouped as (
        select
            name,
            net_index,
            layer_path,
            is_total,
            avg(forward_step_ns) as forward_ns,
            avg(backward_step_ns) as backward_ns,
            avg(step_ns) as step_ns,
            first_reason(case when step_ns is null then reason end, 'runs') as reason,
            count(distinct run_id) as run_count
        from every
        group by name, net_index, layer_path, is_total
    ),
    places as (
        select net_index, layer_path, is_total, min(layer_rank) as layer_rank
        from every
        group by net_index, layer_path, is_total
    ),
    names as (
        select name, row_number() over (order by min(label_number) nulls last, name) as name_rank
        from every
        group by name
    ),
    first as (
        select
            case
                when $baseline is null
                then arg_min(name, name_rank)
                when bool_or(name = $baseline)
                then cast($baseline as varchar)
                else
                    error(
                        'baseline: nothing is called '
                        || $baseline
                        || '; there is: '
                        || coalesce(string_agg(name, ', ' order by name_rank), 'nothing')
                    )
            end as name
        from names
    )
select
    places.layer_path,
    names.name,
    found.forward_ns,
    found.backward_ns,
    found.step_ns,
    ratio(found.forward_ns, base.forward_ns) as forward_factor,
    ratio(found.backward_ns, base.backward_ns) as backward_factor,
    ratio(found.step_ns, base.step_ns) as step_factor,
    case when found.name is null then 'no such layer in it' else found.reason end as reason,
    coalesce(found.run_count, 0) as run_count,
    places.net_index,
    places.is_total
from places
cross join names
cross join first
left join
    grouped as found
    on found.name = names.name
    and found.net_index = places.net_index
    and found.layer_path = places.layer_path
left join
    grouped as base
    on base.name = first.name
    and base.net_index = places.net_index
    and base.layer_path = places.layer_path
order by
    places.net_index, places.is_total desc, places.layer_rank, places.layer_path, names.name_rank

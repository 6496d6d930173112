-- purpose = "Layers: forward, backward and other time, share, and time per step; with a row for
-- work without a layer."
-- source = "Awan 2017, sect. 4.3 (Fig. 5 to 7); docs/metrics.md, section Layers"
-- needs = ["layer_stat", "attribution", "calling_context", "op_call"]
-- depends = ["layer_time", "net_measurement", "step_window"]
-- parameters = "wanted_run wanted_phase wanted_depth"
-- columns = "run_id net_index net_name layer_rank layer_path group_path layer_type forward_ns
-- backward_ns other_ns total_ns share_ratio forward_step_ns backward_step_ns step_ns
-- step_count-layers kernel_count-basis basis reason-layers"
-- layer_rank = "BIGINT: position in the net, or in the order of first forward work, from 1; work
-- without a layer is last"
-- group_path = "VARCHAR: layer_path; NULL for everything else"
-- total_ns = "sum of the three times"
-- share_ratio = "total_ns / total_ns of all rows of the run or net"
-- step_ns = "DOUBLE: total_ns per step"
with
    pieces as materialized(from layer_time where wanted_run is null or run_id = wanted_run),
    -- a net that was measured several times is one net, its times the means
    inside as (
        select pieces.*, net.measured_net_index
        from pieces
        left join net_measurement as net using (run_id, source_id, net_index)
        left join
            step_window(wanted_run, wanted_phase) as steps
            on steps.run_id = pieces.run_id
            and steps.source_id = pieces.source_id
        where
            case
                -- means over all iterations, which caffe begins after a pass to warm up
                when pieces.basis = 'caffe time'
                then wanted_phase in ('all', 'stable')
                when steps.run_id is null
                then wanted_phase = 'all'
                else
                    steps.first_step_index is null
                    or pieces.step_index between steps.first_step_index and steps.last_step_index
            end
    ),
    -- what the passes of a net took, and its layers
    nets as (
        select
            run_id,
            source_id,
            net_index,
            any_value(measured_net_index) as measured_net_index,
            any_value(basis) as basis,
            min(net_name) as net_name,
            min(reason) as reason,
            min(iteration_count) as iteration_count,
            bool_or(statistic_kind = 'mean') as has_means,
            max(share_ns) filter (where is_pass and phase_kind = 'forward') as forward_pass_ns,
            max(share_ns) filter (where is_pass and phase_kind = 'backward') as backward_pass_ns,
            coalesce(
                max(share_ns) filter (
                    where is_pass and phase_kind = 'other' and statistic_kind = 'mean'
                ),
                case
                    when not bool_or(statistic_kind = 'mean')
                    then max(share_ns) filter (where is_pass and phase_kind = 'other')
                end
            ) as whole_ns,
            coalesce(
                sum(share_ns) filter (where not is_pass and phase_kind = 'forward'), 0
            ) as forward_ns,
            coalesce(
                sum(share_ns) filter (where not is_pass and phase_kind = 'backward'), 0
            ) as backward_ns
        from inside
        where basis = 'caffe time'
        group by run_id, source_id, net_index
    ),
    -- caffe prints six digits: layers may add up to more than their pass
    rests as (
        select
            nets.* exclude (reason, forward_ns, backward_ns),
            parts.phase_kind,
            cast(
                greatest(
                    case
                        parts.phase_kind
                        when 'forward'
                        then forward_pass_ns - forward_ns
                        when 'backward'
                        then backward_pass_ns - backward_ns
                        else
                            whole_ns
                            - greatest(forward_pass_ns, forward_ns)
                            - greatest(backward_pass_ns, backward_ns)
                    end,
                    0
                ) as bigint
            ) as share_ns,
            coalesce(reason, 'in the pass, but in no layer of the log') as reason
        from nets
        cross join (values ('forward'), ('backward'), ('other')) as parts(phase_kind)
    ),
    every as (
        select * exclude (is_pass, statistic_kind)
        from inside
        where not is_pass
        union all by name
        select
            run_id,
            source_id,
            basis,
            net_index,
            measured_net_index,
            net_name,
            iteration_count,
            phase_kind,
            share_ns,
            reason,
            case
                when has_means
                then share_ns
                else cast(round(ratio(share_ns, iteration_count)) as bigint)
            end as dur_ns
        from rests
        where share_ns > 0
    ),
    placed as (
        select
            *,
            case
                when wanted_depth is null
                then layer_path
                when wanted_depth < 1
                then error('depth must be 1 or more')
                else array_to_string(string_split(layer_path, '/')[1:wanted_depth], '/')
            end as group_path
        from every
    ),
    types as (
        select run_id, module_path as group_path, min(module_type_name) as layer_type
        from calling_context
        where (wanted_run is null or run_id = wanted_run) and module_path is not null
        group by run_id, module_path
    ),
    counts as (
        select run_id, count(distinct(source_id, step_index)) as step_count
        from every
        where step_index is not null
        group by run_id
    ),
    grouped as (
        select
            run_id,
            measured_net_index as net_index,
            group_path,
            min(net_name) as net_name,
            min(layer_type) filter (where layer_path = group_path) as layer_type,
            sum(dur_ns) filter (where phase_kind = 'forward') as forward_ns,
            sum(dur_ns) filter (where phase_kind = 'backward') as backward_ns,
            sum(dur_ns) filter (where phase_kind = 'other') as other_ns,
            sum(dur_ns) as total_ns,
            sum(share_ns) as share_ns,
            sum(dur_ns) filter (
                where phase_kind = 'forward' and step_index is not null
            ) as forward_inside_ns,
            sum(dur_ns) filter (
                where phase_kind = 'backward' and step_index is not null
            ) as backward_inside_ns,
            sum(dur_ns) filter (where step_index is not null) as inside_ns,
            min(iteration_count) as iteration_count,
            cast(sum(kernel_count) as bigint) as kernel_count,
            count(distinct(source_id, coalesce(net_index, 0))) as source_count,
            case when min(basis) = max(basis) then min(basis) else 'mixed' end as basis,
            list(distinct phase_kind) as phase_kinds,
            coalesce(
                arg_min(reason, (- coalesce(share_ns, 0), reason)),
                case when count(share_ns) = 0 then 'durations not in the file' end
            ) as reason,
            min(layer_index) as layer_index,
            min(start_ns) filter (where phase_kind = 'forward') as forward_start_ns,
            min(start_ns) as start_ns
        from placed
        group by run_id, measured_net_index, group_path
    ),
    -- caffe time leaves out what it does not measure; of kernels and operators none is none
    figures as (
        select
            * replace (
                case
                    when is_caffe
                    then ratio(forward_ns, source_count)
                    when 'forward' in phase_kinds
                    then forward_ns
                    else 0
                end as forward_ns,
                case
                    when is_caffe
                    then ratio(backward_ns, source_count)
                    when 'backward' in phase_kinds
                    then backward_ns
                    else 0
                end as backward_ns,
                case
                    when is_caffe
                    then ratio(other_ns, source_count)
                    when 'other' in phase_kinds
                    then other_ns
                    else 0
                end as other_ns,
                case when is_caffe then ratio(total_ns, source_count) else total_ns end as total_ns
            )
        from (select *, basis = 'caffe time' as is_caffe from grouped)
    )
select
    figures.run_id,
    net_index,
    net_name,
    row_number() over (
        partition by figures.run_id, net_index
        order by
            figures.group_path is null,
            layer_index nulls last,
            forward_start_ns nulls last,
            start_ns nulls last,
            figures.group_path
    ) as layer_rank,
    coalesce(
        figures.group_path, case when is_caffe then '(no layer)' else '(no module)' end
    ) as layer_path,
    figures.group_path,
    coalesce(figures.layer_type, types.layer_type) as layer_type,
    cast(round(forward_ns) as bigint) as forward_ns,
    cast(round(backward_ns) as bigint) as backward_ns,
    cast(round(other_ns) as bigint) as other_ns,
    cast(round(total_ns) as bigint) as total_ns,
    ratio(share_ns, sum(share_ns) over (partition by figures.run_id, net_index)) as share_ratio,
    case
        when is_caffe
        then cast(forward_ns as double)
        when forward_ns is not null
        then ratio(coalesce(forward_inside_ns, 0), counts.step_count)
    end as forward_step_ns,
    case
        when is_caffe
        then cast(backward_ns as double)
        when backward_ns is not null
        then ratio(coalesce(backward_inside_ns, 0), counts.step_count)
    end as backward_step_ns,
    case
        when is_caffe
        then cast(total_ns as double)
        when total_ns is not null
        then ratio(coalesce(inside_ns, 0), counts.step_count)
    end as step_ns,
    case when is_caffe then iteration_count else counts.step_count end as step_count,
    kernel_count,
    basis,
    case when figures.group_path is null or total_ns is null then reason end as reason
from figures
left join counts on counts.run_id = figures.run_id
left join types on types.run_id = figures.run_id and types.group_path = figures.group_path

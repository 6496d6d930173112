-- purpose = "Stragglers: which rank the others wait for, the cost of waiting, and what that rank
-- does more of."
-- source = "docs/metrics.md, section Many ranks: the last rank has the shortest duration"
-- topic = "ranks"
-- needs = ["source_file"]
-- answered_if = "exists (from collective_call($run_id))"
-- depends = ["collective_match", "step_window", "is_communication", "work_total",
-- "classified_kernel", "source_rank", "device_rank"]
-- doubts = ["data_ranks"]
-- parameters = "run_id by phase"
-- by = {doc = "what a row is: rank, or step (a rank in a step)", default = "rank", choices =
-- ["rank", "step"]}
-- columns = "rank_index-known step_index verdict collective_count last_count lost_ns lost_ratio
-- waited_ns more_work_ns reason more_kernel_name more_kernel_ns more_op_name more_op_ns
-- more_phase_kind more_phase_ns confirmed_count source_id"
-- answer = "verdict lost_ns more_kernel_name"
-- step_index = "for by=step: step; NULL outside of steps"
-- verdict = "VARCHAR: straggler, or none; NULL without usable collectives"
-- collective_count = "BIGINT: matched collectives that no rank can leave before all arrive"
-- last_count = "BIGINT: collectives to which the rank came last (shortest duration)"
-- lost_ns = "BIGINT: waiting time of the others for this rank, summed"
-- lost_ratio = "DOUBLE: lost_ns / lost_ns of all ranks"
-- waited_ns = "BIGINT: time that the rank itself waited"
-- more_work_ns = "BIGINT: device work except communication (sum of durations), minus the median
-- of the ranks; NULL for a rank in several files, which the median excludes"
-- reason = "basis of the verdict, or why there is none"
-- more_kernel_name = "VARCHAR: kernel, copy or memset with the largest excess over the median of
-- the ranks"
-- more_kernel_ns = "BIGINT: how much more"
-- more_op_name = "VARCHAR: framework operator with the largest excess of device work"
-- more_op_ns = "BIGINT: how much more"
-- more_phase_kind = "VARCHAR: phase with the largest excess of device work: forward, backward,
-- optimizer or data"
-- more_phase_ns = "BIGINT: how much more"
-- confirmed_count = "BIGINT: collectives of last_count that it also started last, with clocks set
-- by the ends"
with
    calls as materialized(
        select *, case when $by = 'step' then match_step_index end as step
        from collective_match($run_id, $phase)
    ),
    windows as materialized(from step_window($run_id, $phase)),
    -- which of several files has the work of the rank is unknown
    doubled as (
        select distinct rank_index from source_rank where run_id = $run_id and source_count > 1
    ),
    members as (
        select
            source_id,
            rank_index,
            step,
            count(is_last) as collective_count,
            count(*) filter (where is_last) as last_count,
            count(*) filter (where is_confirmed) as confirmed_count,
            cast(coalesce(sum(lost_ns), 0) as bigint) as lost_ns,
            cast(sum(wait_ns) filter (where is_last is not null) as bigint) as waited_ns,
            coalesce(
                mode(match_reason order by match_reason),
                'ranks can leave the collectives before the last has come'
            ) as unmatched_reason
        from calls
        group by source_id, rank_index, step
    ),
    shares as (
        select
            *,
            sum(lost_ns) over one as all_lost_ns,
            count(*) filter (where collective_count > 0) over one as rank_count
        from members
        window one as (partition by step)
    ),
    elapsed as (select sum(end_ns - start_ns) as elapsed_ns from windows),
    -- what ranks have more of
    -- summed first: asking few sums what they are is much faster than asking each kernel, which the
    -- count keeps the optimizer from
    sums as (
        select
            work_total.source_id,
            work_total.device_id,
            null as step,
            work_total.name,
            work_total.op_name,
            work_total.context_id,
            work_total.collective_name,
            work_total.category_name,
            sum(work_total.dur_ns) as dur_ns,
            sum(work_total.work_count) as work_count
        from work_total
        join windows on windows.source_id = work_total.source_id
        where work_total.run_id = $run_id and $by = 'rank' and $phase = 'all'
        group by all
        union all
        select
            attribution.source_id,
            attribution.device_id,
            case when $by = 'step' then attribution.step_index end as step,
            attribution.name,
            attribution.op_name,
            attribution.context_id,
            said.collective_name,
            said.category_name,
            sum(attribution.dur_ns) as dur_ns,
            count(*) as work_count
        from attribution
        join windows on windows.source_id = attribution.source_id
        left join
            (from classified_kernel where run_id = $run_id) as said
            on said.source_id = attribution.source_id
            and said.event_id = attribution.event_id
        where
            attribution.run_id = $run_id
            and not ($by = 'rank' and $phase = 'all')
            and (
                windows.first_step_index is null
                or attribution.step_index
                between windows.first_step_index and windows.last_step_index
            )
        group by all
    ),
    work as (
        select sums.*, device_rank.rank_index
        from sums
        left join
            device_rank
            on device_rank.run_id = $run_id
            and device_rank.source_id = sums.source_id
            and device_rank.device_id is not distinct from sums.device_id
        where
            case
                when work_count > 0 then not is_communication(name, collective_name, category_name)
            end
    ),
    computed as materialized(
        select work.*, calling_context.phase_kind
        from work
        anti join doubled using (rank_index)
        left join
            calling_context
            on calling_context.run_id = $run_id
            and calling_context.source_id = work.source_id
            and calling_context.context_id = work.context_id
    ),
    parts as (
        select
            source_id,
            rank_index,
            step,
            case
                when grouping(name) = 0
                then 'kernel'
                when grouping(op_name) = 0
                then 'op'
                when grouping(phase_kind) = 0
                then 'phase'
                else 'all'
            end as part_kind,
            coalesce(name, op_name, phase_kind) as part_name,
            sum(dur_ns) as dur_ns
        from computed
        group by
            grouping sets (
                (source_id, rank_index, step, name),
                (source_id, rank_index, step, op_name),
                (source_id, rank_index, step, phase_kind),
                (source_id, rank_index, step)
            )
    ),
    usual as (
        select
            parts.step,
            parts.part_kind,
            parts.part_name,
            -- a rank that has none of it has 0
            list_median(
                list_resize(list(cast(parts.dur_ns as double)), any_value(ranks.rank_count), 0)
            ) as median_ns
        from parts
        join
            (
                select step, count(distinct(source_id, rank_index)) as rank_count
                from computed
                group by step
            ) as ranks
            on ranks.step is not distinct from parts.step
        group by parts.step, parts.part_kind, parts.part_name
    ),
    excess as (
        select
            parts.source_id,
            parts.rank_index,
            parts.step,
            parts.part_kind,
            parts.part_name,
            cast(round(parts.dur_ns - usual.median_ns) as bigint) as more_ns
        from parts
        join
            usual
            on usual.part_kind = parts.part_kind
            and usual.step is not distinct from parts.step
            and usual.part_name is not distinct from parts.part_name
    ),
    most as (
        select
            source_id,
            rank_index,
            step,
            max(more_ns) filter (where part_kind = 'all') as more_work_ns,
            arg_min(part_name, (- more_ns, part_name)) filter (
                where part_kind = 'kernel'
            ) as more_kernel_name,
            max(more_ns) filter (where part_kind = 'kernel') as more_kernel_ns,
            arg_min(part_name, (- more_ns, part_name)) filter (
                where part_kind = 'op'
            ) as more_op_name,
            max(more_ns) filter (where part_kind = 'op') as more_op_ns,
            arg_min(part_name, (- more_ns, part_name)) filter (
                where part_kind = 'phase'
            ) as more_phase_kind,
            max(more_ns) filter (where part_kind = 'phase') as more_phase_ns
        from excess
        where part_kind = 'all' or (more_ns > 0 and (part_kind = 'kernel' or part_name is not null))
        group by source_id, rank_index, step
    ),
    judged as (
        select
            shares.*,
            ratio(lost_ns, all_lost_ns) as lost_ratio,
            ratio(sum(lost_ns) over (), elapsed_ns) as waiting_ratio
        from shares
        cross join elapsed
    )
select
    judged.rank_index,
    judged.step as step_index,
    case
        when judged.collective_count = 0
        then null
        -- one and a half times an even share of waiting that matters
        when
            judged.lost_ratio >= ratio(1.5, judged.rank_count)
            and coalesce(judged.waiting_ratio, 1) >= 0.01
        then 'straggler'
        else 'none'
    end as verdict,
    judged.collective_count,
    judged.last_count,
    case when judged.collective_count > 0 then judged.lost_ns end as lost_ns,
    case when judged.collective_count > 0 then judged.lost_ratio end as lost_ratio,
    judged.waited_ns,
    most.more_work_ns,
    case
        when judged.collective_count = 0
        then judged.unmatched_reason
        when judged.waiting_ratio < 0.01
        then 'waiting is less than 1 % of the time'
        else
            'last in '
            || judged.last_count
            || ' of '
            || judged.collective_count
            || case
                when doubled.rank_index is null
                then ''
                else '; work not compared: the rank is in several files'
            end
    end as reason,
    most.more_kernel_name,
    most.more_kernel_ns,
    most.more_op_name,
    most.more_op_ns,
    most.more_phase_kind,
    most.more_phase_ns,
    judged.confirmed_count,
    judged.source_id
from judged
left join
    most
    on most.source_id = judged.source_id
    and most.rank_index is not distinct from judged.rank_index
    and most.step is not distinct from judged.step
left join doubled on doubled.rank_index = judged.rank_index
order by judged.step nulls last, judged.lost_ns desc, judged.rank_index, judged.source_id

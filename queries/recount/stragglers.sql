-- purpose = "Ranks have more work than the median of the ranks where the rows say so."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "stragglers"
-- keys = ["source_id"]
-- needs = ["attribution", "kernel"]
-- is_partial = true
with
    ranks as (
        select source_id, rank_index, count(*) over (partition by rank_index) as file_count
        from source_file
        where run_id = $run_id and rank_index is not null
    ),
    works as (
        select source_id, attribution.name, op_name, phase_kind, dur_ns
        from attribution
        join ranks using (source_id)
        left join calling_context using (run_id, source_id, context_id)
        where
            run_id = $run_id
            and file_count = 1
            and not (work_kind = 'kernel' and regexp_matches(attribution.name, '^(void )?nccl'))
    ),
    sums as (
        select
            source_id,
            unnest(
                [
                    {'kind':'all', 'part':''},
                    {'kind':'kernel', 'part':name},
                    {'kind':'op', 'part':op_name},
                    {'kind':'phase', 'part':phase_kind}
                ],
                recursive := true
            ),
            dur_ns
        from works
    ),
    -- a rank without it has none of it
    each_one as (
        select kind, part, source_id, coalesce(any_value(own_ns), 0) as own_ns
        from (select distinct kind, part from sums where part is not null)
        cross join (select distinct source_id from works)
        left join
            (select kind, part, source_id, sum(dur_ns) as own_ns from sums group by all) using (
                kind, part, source_id
            )
        group by kind, part, source_id
    ),
    excess as (
        select
            *,
            cast(round(own_ns - median(own_ns) over (partition by kind, part)) as bigint) as more_ns
        from each_one
    ),
    most as (
        select
            source_id,
            max(more_ns) filter (where kind = 'all') as more_work_ns,
            arg_min(part, (- more_ns, part)) filter (
                where kind = 'kernel' and more_ns > 0
            ) as more_kernel_name,
            max(more_ns) filter (where kind = 'kernel' and more_ns > 0) as more_kernel_ns,
            arg_min(part, (- more_ns, part)) filter (
                where kind = 'op' and more_ns > 0
            ) as more_op_name,
            max(more_ns) filter (where kind = 'op' and more_ns > 0) as more_op_ns,
            arg_min(part, (- more_ns, part)) filter (
                where kind = 'phase' and more_ns > 0
            ) as more_phase_kind,
            max(more_ns) filter (where kind = 'phase' and more_ns > 0) as more_phase_ns
        from excess
        group by source_id
    ),
    -- each collective: once on every rank, named by its group and number
    calls as (
        select
            source_id,
            dur_ns,
            args_json ->> 'Process Group Name' as group_name,
            cast(args_json ->> 'Seq' as bigint) as sequence_index,
            min(dur_ns) over same as shortest_ns,
            collective_name in ('allreduce', 'allgather', 'reduce_scatter')
            and sequence_index is not null
            and count(*) over same = (select count(*) from ranks)
            and count(distinct source_id) over same = (select count(*) from ranks)
            and count(*) over (same_time) = 1 as is_plain
        from kernel
        where run_id = $run_id and regexp_matches(name, '^(void )?nccl')
        window
            same as (partition by group_name, sequence_index),
            same_time as (partition by group_name, sequence_index, dur_ns)
    ),
    waits as (
        select
            source_id,
            count(*) as collective_count,
            count(*) filter (where dur_ns = shortest_ns) as last_count,
            sum(dur_ns - shortest_ns) as waited_ns,
            sum(if(dur_ns = shortest_ns, lost_ns, 0)) as lost_ns
        from
            (
                select
                    *,
                    sum(dur_ns - shortest_ns) over (
                        partition by group_name, sequence_index
                    ) as lost_ns
                from calls
            )
        group by source_id
    )
select
    source_id,
    rank_index,
    collective_count,
    last_count,
    lost_ns,
    lost_ns / nullif(sum(lost_ns) over (), 0) as lost_ratio,
    waited_ns,
    more_work_ns,
    more_kernel_name,
    more_kernel_ns,
    more_op_name,
    more_op_ns,
    more_phase_kind,
    more_phase_ns
from waits
join ranks using (source_id)
left join most using (source_id)
where
    (select bool_and(is_plain) from calls)
    -- names that may or may not be communication
    and not exists (
        from kernel
        where
            run_id = $run_id
            and not regexp_matches(name, '^(void )?nccl')
            and (
                coalesce(collective_name, category_name) is not null
                or regexp_matches(
                    name,
                    '(?i)ccl|all[-_]?(reduce|gather|to)|reduce[-_]?scatter|collective|notify_'
                    || '|ep(dispatch|combine)|node::|shmem|psum|ppermute|send|recv|cross_device'
                    || '|userbuffers|hcom|a2a|-(start|update|done)'
                )
            )
    )

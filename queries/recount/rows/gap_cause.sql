-- purpose = "Parts of idle times by what the launching thread did until the launch, the call, and
-- the time after it."
-- upon = "launched_gap"
with
    calls as (
        select
            *,
            case
                when
                    regexp_matches(
                        name,
                        '\(dynamo_timed\)|backend_compile|Client::Compile|opCompile'
                        || '|^(cuModule|cuLibrary|hipModule)Load'
                    )
                then 'compile'
                when slice_kind in ('runtime', 'driver')
                then if(regexp_matches(name, 'ynchronize|emcpy'), 'wait', null)
                when regexp_matches(name, '^enumerate\(Data|data_load|wait_for_batch')
                then 'either'
            end as cause
        from slice
        where
            run_id = $run_id
            and slice_kind in ('annotation', 'op', 'runtime', 'driver')
            and dur_ns > 0
    ),
    during as (
        select
            gap_index,
            -- loading that compiles is compiling: the time in either, less that of compiling
            unnest(if(cause = 'compile', ['compile', 'either'], [cause])) as activity,
            calls.start_ns <= gap_start_ns as is_before,
            greatest(calls.start_ns, gap_start_ns) as from_ns,
            least(calls.start_ns + calls.dur_ns, host_end_ns) as till_ns
        from launched_gap
        join
            calls
            on calls.source_id = launched_gap.source_id
            and calls.thread_id = launched_gap.thread_id
            and calls.start_ns < host_end_ns
            and calls.start_ns + calls.dur_ns > gap_start_ns
        where host_end_ns > gap_start_ns and cause is not null
    ),
    reached as (
        select
            *,
            max(till_ns) over (
                partition by gap_index, activity
                order by from_ns, till_ns
                rows between unbounded preceding and 1 preceding
            ) as reach_ns
        from during
    ),
    spent as (
        select
            gap_index,
            sum(greatest(0, till_ns - greatest(from_ns, coalesce(reach_ns, from_ns)))) filter (
                where activity = 'compile'
            ) as compile_ns,
            sum(greatest(0, till_ns - greatest(from_ns, coalesce(reach_ns, from_ns)))) filter (
                where activity = 'either'
            ) as either_ns,
            bool_or(activity = 'wait' and is_before) as is_waiting
        from reached
        group by gap_index
    ),
    told as (
        select
            launched_gap.*,
            is_waiting,
            host_end_ns - gap_start_ns as late_ns,
            coalesce(spent.compile_ns, 0) as compiling_ns,
            coalesce(spent.either_ns, 0) - compiling_ns as fetching_ns,
            gap_end_ns - host_end_ns - call_ns as after_ns,
            if(rest_kind = 'launch' and after_ns >= 1000000, after_ns, 0) as old_ns
        from launched_gap
        left join spent using (gap_index)
    )
select
    *,
    unnest(
        [
            {'kind':'compile', 'ns':compiling_ns, 'why':null},
            {'kind':'data_loading', 'ns':fetching_ns, 'why':null},
            {
                'kind':if(is_waiting, 'synchronisation', 'host'),
                'ns':late_ns - compiling_ns - fetching_ns,
                'why':null
            },
            {'kind':rest_kind, 'ns':call_ns + after_ns - old_ns, 'why':reason},
            {'kind':'unknown', 'ns':old_ns, 'why':'launched long before it begins'}
        ],
        recursive := true
    )
from told

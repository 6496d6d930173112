-- purpose = "Two runs step by step: parts matched by name, else by operator; parts of only one
-- run; and whole steps, busy and idle time."
-- source = "Zhu 2018 (TBD), eq. 1: active time is the union over all streams; docs/metrics.md,
-- section Comparing runs"
-- needs = ["source_file"]
-- depends = ["compared_work", "compared_step"]
-- parameters = "a_run b_run wanted_phase grouping_kind"
-- columns = "side row_kind step_index side_step_count name other_name match_basis value_ns
-- work_count unknown_count"
-- side_step_count = "BIGINT: steps that the run is compared by; NULL without"
-- name = "part name, from A if B has another; NULL if unknown"
-- match_basis = "VARCHAR: name; or owner, with module and shapes if both runs have them; NULL for
-- only one run"
-- value_ns = "DOUBLE: time, mean over the sources"
-- work_count = "DOUBLE: launches, calls or occurrences, likewise"
with
    all_steps as materialized(from compared_step(a_run, b_run, wanted_phase, grouping_kind)),
    steps as materialized(
        select
            *,
            count(*) over (partition by side, step_index) as source_count,
            count(*) over (partition by side, source_id) as source_step_count
        from all_steps
        where is_shared
    ),
    step_counts as (
        select side, count(distinct step_index) as side_step_count from steps group by side
    ),
    works as (from compared_work(a_run, b_run, grouping_kind)),
    -- times of different kinds are not compared
    alike as materialized(
        from works
        qualify
            min(side) over () <> max(side) over ()
            and min(basis_kind) over () = max(basis_kind) over ()
    ),
    source_counts as (
        select side, greatest(count(distinct source_id), 1) as source_count from alike group by side
    ),
    source_steps as (select distinct side, source_id, source_step_count from steps),
    observed as materialized(
        select alike.*, steps.source_count as divisor
        from alike
        join
            steps
            on steps.side = alike.side
            and steps.source_id = alike.source_id
            and steps.step_index = alike.step_index
        where alike.amount_kind = 'step'
        union all
        select
            alike.* replace (null as step_index),
            source_counts.source_count * case
                alike.amount_kind
                when 'recording'
                then coalesce(source_steps.source_step_count, 1)
                else 1
            end
        from alike
        join source_counts on source_counts.side = alike.side
        left join
            source_steps
            on source_steps.side = alike.side
            and source_steps.source_id = alike.source_id
        where wanted_phase = 'all' and (alike.amount_kind <> 'step' or not exists (from steps))
    ),
    -- what has one name in both is the same; of the rest what has one owner
    named as (select name, count(distinct side) = 2 as is_in_both from observed group by name),
    recorded as (
        select
            bool_and(has_module) as has_module,
            bool_and(has_dims) as has_dims,
            'owner'
            || case when bool_and(has_module) then ', module' else '' end
            || case when bool_and(has_dims) then ', shapes' else '' end as basis
        from
            (
                select
                    bool_or(module_path is not null) as has_module,
                    bool_or(owner_dims is not null) as has_dims
                from observed
                group by side
            )
    ),
    placed as (
        select
            observed.*,
            named.is_in_both,
            case
                when
                    not named.is_in_both
                    and observed.name is not null
                    and observed.owner_name is not null
                then
                    [
                        observed.owner_name,
                        case when recorded.has_module then observed.module_path end,
                        case when recorded.has_dims then observed.owner_dims end
                    ]
            end as place
        from observed
        join named on named.name is not distinct from observed.name
        cross join recorded
    ),
    at_places as (
        select side, place, string_agg(distinct name, ' + ' order by name) as names
        from placed
        where place is not null
        group by side, place
        -- more than three are no renaming
        having count(distinct name) <= 3
    ),
    pairs as (
        select a.place, a.names as name, b.names as other_name
        from at_places as a
        join at_places as b on b.place = a.place
        where a.side = 'a' and b.side = 'b'
    ),
    -- times are added up before they are divided: the same times give the same figures
    parts as materialized(
        select
            placed.side,
            placed.step_index,
            placed.divisor,
            coalesce(pairs.name, placed.name) as name,
            pairs.other_name,
            case
                when pairs.name is not null then recorded.basis when placed.is_in_both then 'name'
            end as match_basis,
            sum(placed.dur_ns) as dur_ns,
            sum(placed.work_count) as work_count,
            sum(placed.unknown_count) as unknown_count
        from placed
        left join pairs on pairs.place = placed.place
        cross join recorded
        group by all
    ),
    -- what each piece of work adds to the time that its device is busy
    pieces as (
        select
            source_id,
            device_id,
            step_index,
            start_ns,
            start_ns + dur_ns as end_ns,
            greatest(
                start_ns,
                max(start_ns + dur_ns) over (
                    partition by source_id, device_id
                    order by start_ns, dur_ns
                    rows between unbounded preceding and 1 preceding
                )
            ) as begin_ns
        from attribution
        where run_id in (a_run, b_run) and start_ns is not null and dur_ns is not null
    ),
    busy as materialized(
        select
            source_id,
            step_index,
            sum(greatest(end_ns - begin_ns, 0)) as busy_ns,
            min(start_ns) as start_ns,
            max(end_ns) as end_ns,
            list(distinct device_id) as devices
        from pieces
        group by source_id, step_index
    ),
    active as (
        select
            source_id,
            greatest(len(list_distinct(flatten(list(devices)))), 1) as device_count,
            sum(busy_ns) as busy_ns,
            max(end_ns) - min(start_ns) as elapsed_ns
        from busy
        group by source_id
    ),
    wholes as (
        -- a step without device work was busy for 0 ns
        select
            steps.side,
            steps.source_id,
            'step' as whole_kind,
            steps.step_index,
            steps.elapsed_ns,
            ratio(coalesce(busy.busy_ns, 0), active.device_count) as busy_ns
        from steps
        left join active on active.source_id = steps.source_id
        left join busy on busy.source_id = steps.source_id and busy.step_index = steps.step_index
        union all
        select
            alike.side,
            alike.source_id,
            'elapsed',
            null,
            active.elapsed_ns,
            ratio(active.busy_ns, active.device_count)
        from (select distinct side, source_id from alike where basis_kind = 'timeline') as alike
        join active on active.source_id = alike.source_id
        where wanted_phase = 'all' and not exists (from steps)
    ),
    means as (
        select
            side,
            step_index,
            unnest([whole_kind, 'busy', 'idle']) as row_kind,
            unnest(
                [
                    avg(elapsed_ns),
                    avg(busy_ns order by source_id),
                    avg(elapsed_ns - busy_ns order by source_id)
                ]
            ) as value_ns
        from wholes
        group by side, step_index, whole_kind
    ),
    series as (
        select
            'part' as row_kind,
            side,
            step_index,
            name,
            other_name,
            match_basis,
            sum(ratio(dur_ns, divisor) order by divisor) as value_ns,
            sum(ratio(work_count, divisor) order by divisor) as work_count,
            sum(unknown_count) as unknown_count
        from parts
        group by side, step_index, name, other_name, match_basis
        union all
        select
            'total',
            side,
            step_index,
            null,
            null,
            'name',
            sum(ratio(dur_ns, divisor) order by divisor),
            sum(ratio(work_count, divisor) order by divisor),
            sum(unknown_count)
        from
            (
                select
                    side,
                    step_index,
                    divisor,
                    sum(dur_ns) as dur_ns,
                    sum(work_count) as work_count,
                    sum(unknown_count) as unknown_count
                from parts
                group by side, step_index, divisor
            )
        group by side, step_index
        union all
        select row_kind, side, step_index, null, null, 'name', value_ns, null, 0
        from means
        where value_ns is not null
    )
select
    series.side,
    series.row_kind,
    series.step_index,
    step_counts.side_step_count,
    series.name,
    series.other_name,
    series.match_basis,
    series.value_ns,
    series.work_count,
    cast(series.unknown_count as bigint) as unknown_count
from series
left join step_counts on step_counts.side = series.side

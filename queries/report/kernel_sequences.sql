-- purpose = "Sequences of two to five kernels that follow each other on a stream again and again:
-- candidates to fuse, or to launch as one graph."
-- source = "HTA's frequent CUDA kernel sequences; docs/metrics.md, section kernel_sequences"
-- topic = "kernels"
-- needs = ["attribution"]
-- depends = ["device_work", "step_window", "missing_launches"]
-- parameters = "run_id phase-kernels top least_count longest_gap_ns"
-- top = {default = 20}
-- least_count = {type = "BIGINT", doc = "fewest times that a sequence runs", default = 3}
-- longest_gap_ns = {type = "BIGINT", doc = "longest time between two kernels of a sequence, in
-- ns; after more, the stream has waited for something else", default = 100000}
-- columns = "sequence sequence_count-own kernel_count-sequence gap_ns-sequence mean_gap_ns
-- call_ns-sequence total_ns share_ratio-kernels graph_ratio reason first_event_id source_id"
-- sequence = "VARCHAR: functions of its kernels in order, without namespaces; kernels that differ
-- in other ways are different sequences"
-- sequence_count-own = "BIGINT: times that the sequence runs, not overlapping itself"
-- kernel_count-sequence = "BIGINT: kernels in the sequence"
-- gap_ns-sequence = "BIGINT: time between its kernels, all times that it runs"
-- mean_gap_ns = "DOUBLE: gap_ns / sequence_count"
-- call_ns-sequence = "BIGINT: time of the launch calls of its kernels except the first, which one
-- launch would save; without calls that launch several kernels, NULL if all do"
-- total_ns = "sum of the durations of its kernels"
-- graph_ratio = "DOUBLE: share of its kernels whose call launches several, such as a graph"
-- reason = "why calls are unknown or incomplete"
-- first_event_id = "BIGINT: first kernel of the first time: kernel.event_id"
with
    work as materialized(
        select
            row_number() over in_order as place,
            here.source_id,
            here.event_id,
            here.name,
            here.work_kind = 'kernel' as is_kernel,
            here.end_ns - here.start_ns as dur_ns,
            coalesce(here.launch_work_count > 1, false) as is_of_several,
            case
                when coalesce(here.launch_work_count, 1) = 1
                then here.launch_end_ns - here.launch_start_ns
            end as call_ns,
            here.launch_start_ns is not null as is_launched,
            greatest(here.start_ns - lag(here.end_ns) over in_stream, 0) as gap_ns,
            lag(here.work_kind = 'kernel') over in_stream as is_after_kernel
        from device_work as here
        join step_window($run_id, $phase) as windows on windows.source_id = here.source_id
        where
            here.run_id = $run_id
            and (
                windows.first_step_index is null
                or (here.start_ns >= windows.start_ns and here.start_ns < windows.end_ns)
            )
        window
            in_order as (
                order by
                    here.source_id, here.device_id, here.stream_id, here.start_ns, here.event_id
            ),
            in_stream as (
                partition by here.source_id, here.device_id, here.stream_id
                order by here.start_ns, here.event_id
            )
    ),
    names as materialized(
        select name, row_number() over (order by name) as code
        from (select distinct name from work where is_kernel)
    ),
    kernels as materialized(
        select
            row_number() over so_far as place,
            work_place,
            code,
            is_launched,
            is_of_several,
            dur_ns,
            sum(is_first) over so_far as part_index,
            sum(dur_ns) over so_far as until_ns,
            sum(gap_ns) over so_far as gaps_ns,
            sum(call_ns) over so_far as calls_ns,
            sum(is_launched) over so_far as launched_count,
            sum(is_of_several) over so_far as several_count
        from
            (
                select
                    work.place as work_place,
                    cast(names.code as hugeint) as code,
                    work.dur_ns,
                    work.gap_ns,
                    work.call_ns,
                    cast(work.is_launched as int) as is_launched,
                    cast(work.is_of_several as int) as is_of_several,
                    case
                        when work.is_after_kernel and work.gap_ns <= $longest_gap_ns then 0 else 1
                    end as is_first
                from work
                join names on names.name is not distinct from work.name
                where work.is_kernel
            )
        window so_far as (order by work_place rows unbounded preceding)
    ),
    -- a number for each sequence from a place: the codes are its digits
    numbered as materialized(
        select
            *,
            three * base + lead(code, 3) over in_order as four,
            four * base + lead(code, 4) over in_order as five
        from
            (
                select
                    kernels.*,
                    base,
                    code * base + lead(code, 1) over in_order as two,
                    two * base + lead(code, 2) over in_order as three
                from kernels
                cross join (select count(*) + 1 as base from names)
                window in_order as (order by place)
            )
        window in_order as (order by place)
    ),
    runs as materialized(
        select
            first_one.place,
            length,
            case
                length
                when 2
                then first_one.two
                when 3
                then first_one.three
                when 4
                then first_one.four
                else first_one.five
            end as number,
            last_one.until_ns - first_one.until_ns + first_one.dur_ns as total_ns,
            last_one.gaps_ns - first_one.gaps_ns as gap_ns,
            last_one.calls_ns - coalesce(first_one.calls_ns, 0) as call_ns,
            last_one.launched_count
            - first_one.launched_count
            + first_one.is_launched as launched_count,
            last_one.several_count
            - first_one.several_count
            + first_one.is_of_several as several_count
        from numbered as first_one
        cross join (select unnest([2, 3, 4, 5]) as length)
        join
            kernels as last_one
            on last_one.place = first_one.place + length - 1
            and last_one.part_index = first_one.part_index
    ),
    sequences as materialized(
        select
            number,
            length,
            count(*) as run_count,
            min(place) as first_place,
            row_number() over () as sequence_index
        from runs
        group by number, length
        having count(*) >= $least_count
    ),
    -- those that a longer one has each time that they run
    parts as (
        select number, max(run_count) as run_count
        from
            (
                select
                    unnest(
                        case
                            sequences.length
                            when 3
                            then [first_one.two, next_one.two]
                            when 4
                            then [first_one.three, next_one.three]
                            when 5
                            then [first_one.four, next_one.four]
                        end
                    ) as number,
                    sequences.run_count
                from sequences
                join numbered as first_one on first_one.place = sequences.first_place
                join numbered as next_one on next_one.place = sequences.first_place + 1
            )
        group by number
    ),
    spaced as (
        select
            runs.*,
            sequences.sequence_index,
            sequences.first_place,
            runs.place - lag(runs.place) over (
                partition by sequences.sequence_index order by runs.place
            ) as distance
        from runs
        join sequences on sequences.number = runs.number
        left join parts on parts.number = sequences.number
        where parts.run_count is distinct from sequences.run_count
    ),
    chained as (
        select
            *,
            -- from one to the next that it overlaps: of at most five kernels, a sequence has one
            -- such distance, or both 3 and 4, which let every second one run
            min(distance) over (partition by sequence_index) as least_distance,
            count(*) filter (where distance is null or distance >= length) over (
                partition by sequence_index order by place
            ) as chain_index
        from spaced
    ),
    counted as (
        select
            *,
            row_number() over (partition by sequence_index, chain_index order by place) as nth,
            cast(ceil(ratio(length, least_distance)) as bigint) as every
        from chained
    ),
    apart as materialized(from counted where nth = 1 or (nth - 1) % every = 0),
    ranked as materialized(
        select
            sequence_index,
            any_value(first_place) as first_place,
            any_value(length) as length,
            count(*) as sequence_count,
            cast(sum(total_ns) as bigint) as total_ns,
            cast(sum(gap_ns) as bigint) as gap_ns,
            cast(sum(call_ns) as bigint) as call_ns,
            cast(sum(launched_count) as bigint) as launched_count,
            cast(sum(several_count) as bigint) as several_count,
            row_number() over (
                order by
                    sum(gap_ns) desc,
                    sum(call_ns) desc,
                    sum(total_ns) desc,
                    min(place),
                    any_value(length)
            ) as rank
        from apart
        group by sequence_index
        having count(*) >= $least_count
    ),
    -- each kernel for the first sequence that has it
    taken as (
        select rank, count(*) as kernel_count
        from
            (
                select place, min(rank) as rank
                from
                    (
                        select ranked.rank, apart.place + unnest(range(apart.length)) as place
                        from apart
                        join ranked on ranked.sequence_index = apart.sequence_index
                    )
                group by place
            )
        group by rank
    ),
    chosen as (
        select ranked.*
        from ranked
        join taken on taken.rank = ranked.rank
        where 2 * taken.kernel_count >= ranked.sequence_count * ranked.length
        order by ranked.rank
        limit $top
    ),
    titles as (
        select
            chosen.rank,
            string_agg(
                regexp_replace(kernel_function(names.name), '\w+::', '', 'g'),
                ' → '
                order by numbered.place
            ) as sequence
        from chosen
        join
            numbered
            on numbered.place >= chosen.first_place
            and numbered.place < chosen.first_place + chosen.length
        join names on names.code = numbered.code
        group by chosen.rank
    )
select
    titles.sequence,
    chosen.sequence_count,
    cast(chosen.length as bigint) as kernel_count,
    chosen.gap_ns,
    ratio(chosen.gap_ns, chosen.sequence_count) as mean_gap_ns,
    case when chosen.launched_count > chosen.several_count then chosen.call_ns end as call_ns,
    chosen.total_ns,
    ratio(chosen.total_ns, (select sum(dur_ns) from work where is_kernel)) as share_ratio,
    case
        when chosen.launched_count > 0
        then ratio(chosen.several_count, chosen.sequence_count * chosen.length)
    end as graph_ratio,
    missing_launches(chosen.launched_count, chosen.sequence_count * chosen.length) as reason,
    work.event_id as first_event_id,
    work.source_id
from chosen
join titles on titles.rank = chosen.rank
join numbered on numbered.place = chosen.first_place
join work on work.place = numbered.work_place
order by chosen.rank

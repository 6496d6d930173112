-- purpose = "Sequences of kernels run as often, with the gaps and calls, as the rows say."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "kernel_sequences"
-- keys = ["source_id", "first_event_id", "kernel_count"]
-- needs = ["attribution"]
with recursive
    work as (
        select
            *,
            greatest(
                start_ns - lag(start_ns + dur_ns) over (
                    partition by source_id, device_id, stream_id order by start_ns, event_id
                ),
                0
            ) as gap_ns,
            lag(work_kind) over (
                partition by source_id, device_id, stream_id order by start_ns, event_id
            ) as kind_before
        from attribution
        where run_id = $run_id and start_ns + dur_ns is not null
    ),
    kernels as (
        select
            row_number() over in_order as place,
            {
                'name':name,
                'dur_ns':dur_ns,
                'gap_ns':gap_ns,
                'call_ns':if(coalesce(launch_work_count, 1) = 1, launch_dur_ns, null),
                'is_launched':launch_start_ns is not null,
                'is_of_several':coalesce(launch_work_count > 1, false),
                'part':sum(if(kind_before = 'kernel' and gap_ns <= 100000, 0, 1)) over in_order,
                'source_id':source_id,
                'event_id':event_id
            } as kernel
        from work
        where work_kind = 'kernel'
        window in_order as (order by source_id, device_id, stream_id, start_ns, event_id)
    ),
    runs as (
        select
            place,
            length,
            following[:length] as here,
            list_transform(here, lambda one:one.name) as names
        from
            (
                select
                    place,
                    list(kernel) over (
                        order by place rows between current row and 4 following
                    ) as following
                from kernels
            )
        cross join (select unnest([2, 3, 4, 5]) as length)
        where len(here) = length and here[1].part = here[length].part
    ),
    counts as (
        select names, any_value(length) as length, count(*) as run_count
        from runs
        group by names
        having run_count >= 3
    ),
    -- a longer one does not have it each time
    chosen as (
        select row_number() over () as sequence_index, names, length
        from counts as shorter
        where
            not exists (
                from counts as longer
                where
                    longer.length = shorter.length + 1
                    and longer.run_count = shorter.run_count
                    and shorter.names in (longer.names[2:], longer.names[:shorter.length])
            )
    ),
    placed as (
        select sequence_index, place, chosen.length, here from runs join chosen using (names)
    ),
    -- from the first on, without overlaps
    apart as (
        select sequence_index, min(place) as place, any_value(length) as length
        from placed
        group by sequence_index
        union all
        select sequence_index, min(placed.place), any_value(placed.length)
        from apart
        join placed using (sequence_index)
        where placed.place >= apart.place + apart.length
        group by sequence_index
    ),
    sums as (
        select
            sequence_index,
            any_value(length) as length,
            min(place) as first_place,
            arg_min(here[1], place) as first_kernel,
            count(*) as sequence_count,
            sum(list_sum(list_transform(here, lambda one:one.dur_ns))) as total_ns,
            sum(list_sum(list_transform(here[2:], lambda one:one.gap_ns))) as gap_ns,
            sum(list_sum(list_transform(here[2:], lambda one:one.call_ns))) as call_ns,
            sum(len(list_filter(here, lambda one:one.is_launched))) as launched_count,
            sum(len(list_filter(here, lambda one:one.is_of_several))) as several_count
        from apart
        join placed using (sequence_index, place, length)
        group by sequence_index
        having sequence_count >= 3
    ),
    ranked as (
        select
            *,
            row_number() over (
                order by gap_ns desc, call_ns desc, total_ns desc, first_place, length
            ) as rank
        from sums
    ),
    -- kernels that no better one has
    left_over as (
        select rank, count(*) as kernel_count
        from
            (
                select min(rank) as rank
                from
                    (
                        select rank, apart.place + unnest(range(length)) as kernel_place
                        from ranked
                        join apart using (sequence_index, length)
                    )
                group by kernel_place
            )
        group by rank
    )
select
    first_kernel.source_id as source_id,
    first_kernel.event_id as first_event_id,
    length as kernel_count,
    sequence_count,
    gap_ns,
    gap_ns / sequence_count as mean_gap_ns,
    if(launched_count > several_count, call_ns, null) as call_ns,
    total_ns,
    total_ns / (select sum(kernel.dur_ns) from kernels) as share_ratio,
    if(launched_count > 0, several_count / (sequence_count * length), null) as graph_ratio
from ranked
join left_over using (rank)
where
    2 * left_over.kernel_count >= sequence_count * length
    and (select count(*) from kernels) between 1 and 3000
order by rank
limit 20

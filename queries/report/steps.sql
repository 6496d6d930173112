-- purpose = "Steps and the stable phase: time, device busy time, launches and work of their
-- kernels (joined counters); median and throughput first."
-- source = "Zhu 2018 (TBD), sect. 3.4: sampling after warm-up and auto-tuning, throughput;
-- docs/metrics.md, section Steps and the stable phase"
-- topic = "time"
-- needs = ["step"]
-- answered_if = "exists (from step_span($run_id))"
-- depends = ["step_span", "stable_phase", "stable_share", "step_sample", "source_rank",
-- "rate_of_steps", "joined_bound", "possible_ratio", "above_peak"]
-- parameters = "run_id"
-- columns = "step_name rank_index elapsed_ns is_stable reason busy_ratio kernel_count-step
-- steps_per_s samples_per_s spread_ratio step_count mean_ns longest_ns stall_ns kernel_ns
-- host_ns-step busy_ns device_ns-step work_count-step step_kind start_ns step_index source_id
-- total_flop total_bytes fp32_utilization_ratio known_ratio"
-- answer = "elapsed_ns reason busy_ratio"
-- step_name = "VARCHAR: step number; (stable) or (all): median of those steps, rounded"
-- elapsed_ns = "from when the step before it was done (for the first, the start of its mark) until
-- it was: the next one is marked and its work has ended"
-- is_stable = "BOOLEAN: in the stable phase"
-- reason = "why the step is not stable, or why there is no stable phase; for (stable): that these
-- are less than half of the steps or of their time; else why a ratio is NULL"
-- busy_ratio = "busy_ns / (elapsed_ns x devices); for (stable) and (all), summed first"
-- steps_per_s = "DOUBLE: for (stable) and (all): 1 / mean_ns"
-- samples_per_s = "DOUBLE: steps_per_s x the run's metric samples_per_step, else its label batch:
-- samples of one rank per step, x the ranks in the file"
-- spread_ratio = "DOUBLE: for (stable) and (all): (longest - shortest) / median; NULL for fewer
-- than two steps"
-- step_count = "for (stable) and (all): steps"
-- mean_ns = "for (stable) and (all): mean time"
-- longest_ns = "BIGINT: for (stable) and (all): longest time"
-- stall_ns = "BIGINT: for a stalled step: device idle time in it (without device work: its time)
-- above the median of all steps, if that exceeds the median step time; for (stable) and
-- (all): the sum"
-- busy_ns = "time in it with a kernel, copy or memset running, from any step; summed over devices"
-- step_kind = "VARCHAR: source of the mark: host (the loop), device, or detected (repeating
-- kernels)"
-- start_ns = "when the step before it was done; for the first, start of its mark, or if detected
-- of its first launch"
-- step_index = "step number; NULL for (stable) and (all)"
-- total_flop = "operations of its kernels, by joined counters (median); NULL without counters"
-- total_bytes = "device memory bytes of its kernels, by joined counters"
-- fp32_utilization_ratio = "FP32 operations / (peak x kernel time), over kernels with counters;
-- NULL above 1.05"
-- known_ratio = "share of the kernel time with counters"
with
    spans as materialized(from step_span($run_id)),
    phases as materialized(from stable_phase($run_id)),
    work as materialized(
        select source_id, device_id, start_ns, start_ns + dur_ns as end_ns, is_alone
        from attribution
        where run_id = $run_id and start_ns is not null and dur_ns is not null
    ),
    counted as (
        select
            here.source_id,
            step_index,
            sum(total_flop) as total_flop,
            sum(dram_bytes) as total_bytes,
            sum(fp32_flop) filter (
                where fp32_flop_per_s is not null and joined_bound.dur_ns > 0
            ) as fp32_flop,
            sum(fp32_flop_per_s * joined_bound.dur_ns) filter (
                where fp32_flop is not null
            ) as fp32_roof,
            coalesce(
                sum(joined_bound.dur_ns) filter (where total_flop is not null), 0
            ) as counted_ns,
            sum(joined_bound.dur_ns) as joined_ns
        from (from attribution where run_id = $run_id) as here
        join (from joined_bound where run_id = $run_id) as joined_bound using (source_id, event_id)
        group by here.source_id, step_index
    ),
    -- what each work adds to the time in which its device is busy; only what can run with other
    -- work is sorted for it
    pieces as (
        select source_id, device_id, start_ns as begin_ns, end_ns
        from work
        where is_alone
        union all
        select
            source_id,
            device_id,
            greatest(
                start_ns,
                coalesce(
                    max(end_ns) over (device rows between unbounded preceding and 1 preceding),
                    start_ns
                )
            ) as begin_ns,
            end_ns
        from work
        where is_alone is not true
        window device as (partition by source_id, device_id order by start_ns, end_ns)
    ),
    busy as (
        select
            source_id,
            coalesce(cast(device_id as varchar), '') as device_key,
            begin_ns,
            end_ns,
            sum(end_ns - begin_ns) over (
                partition by source_id, device_id order by begin_ns, end_ns rows unbounded preceding
            ) as until_ns
        from pieces
        where end_ns > begin_ns
    ),
    devices as (
        select distinct source_id, coalesce(cast(device_id as varchar), '') as device_key from work
    ),
    moments as (
        select source_id, device_key, time_ns
        from devices
        join
            (
                select source_id, start_ns as time_ns
                from spans
                union
                select source_id, end_ns
                from spans
            ) using (source_id)
        where time_ns is not null
    ),
    reached as (
        select
            moments.source_id,
            moments.time_ns,
            sum(coalesce(until_ns - greatest(end_ns - moments.time_ns, 0), 0)) as busy_ns,
            count(*) as device_count
        from moments
        asof left join
            busy
            on busy.source_id = moments.source_id
            and busy.device_key = moments.device_key
            and busy.begin_ns <= moments.time_ns
        group by moments.source_id, moments.time_ns
    ),
    measured as (
        select
            spans.*,
            cast(ended.busy_ns - began.busy_ns as bigint) as busy_ns,
            ended.device_count,
            case
                when ended.device_count is null
                then spans.elapsed_ns
                else spans.elapsed_ns - ratio(ended.busy_ns - began.busy_ns, ended.device_count)
            end as wait_ns,
            coalesce(step_index between first_step_index and last_step_index, false) as is_stable,
            phases.reason as phase_reason,
            shares.warning,
            counted.total_flop,
            counted.total_bytes,
            counted.fp32_flop,
            counted.fp32_roof,
            counted.counted_ns,
            counted.joined_ns
        from spans
        left join counted using (source_id, step_index)
        join phases using (run_id, source_id)
        join stable_share($run_id) as shares using (run_id, source_id)
        left join
            reached as began on began.source_id = spans.source_id and began.time_ns = spans.start_ns
        left join
            reached as ended on ended.source_id = spans.source_id and ended.time_ns = spans.end_ns
    ),
    told as (
        select
            *,
            median(elapsed_ns) filter (where is_stable) over source as stable_ns,
            median(kernel_count) filter (where is_stable) over source as stable_count,
            case
                when is_stable
                then null
                when phase_reason is not null
                then phase_reason
                when 100 * abs(kernel_count - stable_count) > stable_count
                then kernel_count || ' kernels, they have ' || cast(stable_count as bigint)
                when elapsed_ns > stable_ns * 1.1 or elapsed_ns < stable_ns * 0.9
                then printf('takes %.2f of their time', ratio(elapsed_ns, stable_ns))
                else 'like stable steps, but apart from them'
            end as reason,
            wait_ns - median(wait_ns) over source as more_ns,
            case
                when more_ns > median(elapsed_ns) over source then cast(more_ns as bigint)
            end as stall_ns
        from measured
        window source as (partition by source_id)
    ),
    added as (
        select
            source_id,
            is_all,
            cast(median(elapsed_ns) as bigint) as elapsed_ns,
            ratio(sum(busy_ns), sum(elapsed_ns * device_count)) as busy_ratio,
            cast(median(kernel_count) as bigint) as kernel_count,
            cast(median(kernel_ns) as bigint) as kernel_ns,
            rate_of_steps(elapsed_ns) as steps_per_s,
            case
                when count(elapsed_ns) > 1
                then ratio(max(elapsed_ns) - min(elapsed_ns), median(elapsed_ns))
            end as spread_ratio,
            count(*) as step_count,
            coalesce(
                any_value(phase_reason), case when not is_all then any_value(warning) end
            ) as reason,
            avg(elapsed_ns) as mean_ns,
            max(elapsed_ns) as longest_ns,
            cast(sum(stall_ns) as bigint) as stall_ns,
            any_value(step_kind) as step_kind,
            cast(median(host_ns) as bigint) as host_ns,
            cast(median(busy_ns) as bigint) as busy_ns,
            cast(median(device_ns) as bigint) as device_ns,
            cast(median(work_count) as bigint) as work_count,
            min(start_ns) as start_ns,
            median(total_flop) as total_flop,
            median(total_bytes) as total_bytes,
            sum(fp32_flop) as fp32_flop,
            sum(fp32_roof) as fp32_roof,
            sum(counted_ns) as counted_ns,
            sum(joined_ns) as joined_ns
        from
            (
                select *, true as is_all
                from told
                union all
                select *, false
                from told
                where is_stable
            )
        group by source_id, is_all
    ),
    rows_of_all as (
        select
            *,
            case when is_all then '(all)' else '(stable)' end as step_name,
            not is_all as is_stable
        from added
        union all by name
        select
            *,
            cast(step_index as varchar) as step_name,
            ratio(busy_ns, elapsed_ns * device_count) as busy_ratio
        from told
    )
select
    step_name,
    source_file.rank_index,
    elapsed_ns,
    is_stable,
    nullif(
        concat_ws(
            '; ',
            coalesce(reason, case when busy_ratio is null then 'no work of a device' end),
            above_peak(ratio(fp32_flop * 1e9, fp32_roof), 'operations (measured)', 'the peak fp32')
        ),
        ''
    ) as reason,
    busy_ratio,
    kernel_count,
    steps_per_s,
    steps_per_s * sample_count * coalesce(rank_count, 1) as samples_per_s,
    spread_ratio,
    step_count,
    mean_ns,
    longest_ns,
    stall_ns,
    kernel_ns,
    host_ns,
    busy_ns,
    device_ns,
    work_count,
    step_kind,
    start_ns,
    step_index,
    rows_of_all.source_id,
    total_flop,
    total_bytes,
    possible_ratio(fp32_flop * 1e9, fp32_roof) as fp32_utilization_ratio,
    ratio(counted_ns, joined_ns) as known_ratio
from rows_of_all
left join step_sample on step_sample.run_id = $run_id
left join
    (
        select source_id, count(*) as rank_count
        from source_rank
        where run_id = $run_id
        group by source_id
    ) as ranks
    on ranks.source_id = rows_of_all.source_id
left join
    source_file on source_file.source_id = rows_of_all.source_id and source_file.run_id = $run_id
order by rank_index nulls last, rows_of_all.source_id, step_index nulls first, step_name desc

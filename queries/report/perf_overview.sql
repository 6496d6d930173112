-- purpose = "perf stat metrics of a program or machine: time, CPUs used, clock, instructions per
-- cycle, miss rates, faults, top-down; by measurement, interval, scope or control group."
-- source = "tools/perf/util/stat-shadow.c: metrics that perf prints after #; docs/metrics.md,
-- section Processor counters"
-- topic = "processors"
-- needs = ["measurement"]
-- depends = ["cpu_active", "cpu_figure", "run_title"]
-- parameters = "run_id-all by"
-- by = {doc = "what a row is: measurement, interval, scope (socket, core, thread …),
-- interval_scope (each scope in each interval) or cgroup", default = "measurement", choices =
-- ["measurement", "interval", "scope", "interval_scope", "cgroup"]}
-- columns = "name part_name interval_index dur_ns used_cpu_count clock_hz ipc branch_miss_ratio
-- cache_miss_ratio running_ratio page_fault_count context_switch_count l1d_miss_ratio
-- llc_miss_ratio dtlb_miss_ratio retiring_ratio bad_speculation_ratio frontend_bound_ratio
-- backend_bound_ratio reason perf_figures used_cpu_running_ratio clock_running_ratio
-- ipc_running_ratio branch_miss_running_ratio cache_miss_running_ratio l1d_miss_running_ratio
-- llc_miss_running_ratio dtlb_miss_running_ratio topdown_running_ratio end_ns-interval
-- active_basis measurement_index file_name run_id"
-- name = "measured program, or the file"
-- used_cpu_count = "DOUBLE: mean number of CPUs in use: CPU time / elapsed time"
-- clock_hz = "DOUBLE: cycles / CPU time, as in perf; for a whole machine, CPU time includes
-- sleeping CPUs"
-- ipc = "DOUBLE: instructions per cycle"
-- branch_miss_ratio = "DOUBLE: branch-misses / branches"
-- cache_miss_ratio = "DOUBLE: cache-misses / cache-references"
-- running_ratio = "lowest share of the time that a counter of these figures ran; perf multiplexes
-- and extrapolates"
-- page_fault_count = "BIGINT: page faults"
-- context_switch_count = "BIGINT: context switches"
-- l1d_miss_ratio = "DOUBLE: L1-dcache-load-misses / L1-dcache-loads"
-- llc_miss_ratio = "DOUBLE: LLC-load-misses / LLC-loads"
-- dtlb_miss_ratio = "DOUBLE: dTLB-load-misses / dTLB-loads"
-- retiring_ratio = "DOUBLE: top-down: share of the slots with retired operations"
-- bad_speculation_ratio = "DOUBLE: top-down: share of the slots lost to bad speculation"
-- frontend_bound_ratio = "DOUBLE: top-down: share of the slots waiting for instructions (frontend)"
-- backend_bound_ratio = "DOUBLE: top-down: share of the slots waiting for data or units (backend)"
-- reason = "why figures are NULL: events not collected, and other reasons with their figures"
-- perf_figures = "VARCHAR: figures computed by perf, because the file lacks their events"
-- used_cpu_running_ratio = "DOUBLE: share of the time that the clock ran"
-- clock_running_ratio = "DOUBLE: lowest share of the time that its events ran"
-- ipc_running_ratio = "DOUBLE: lowest share of the time that its events ran"
-- branch_miss_running_ratio = "DOUBLE: lowest share of the time that its events ran"
-- cache_miss_running_ratio = "DOUBLE: lowest share of the time that its events ran"
-- l1d_miss_running_ratio = "DOUBLE: lowest share of the time that its events ran"
-- llc_miss_running_ratio = "DOUBLE: lowest share of the time that its events ran"
-- dtlb_miss_running_ratio = "DOUBLE: lowest share of the time that its events ran"
-- topdown_running_ratio = "DOUBLE: lowest share of the time that the events of the top-down
-- shares ran"
with
    told as materialized(from cpu_figure($run_id, $by)),
    figures as (
        select
            run_id,
            source_id,
            measurement_index,
            slot_key,
            core_name,
            coalesce(core_name, '') as core_key,
            map_from_entries(
                list((figure_name, {'value':value, 'running':running_ratio}))
            ) as value_of,
            min(running_ratio) as running_ratio,
            string_agg(figure_name, ', ' order by figure_name) filter (
                where is_by_perf and figure_name <> 'used_cpu'
            ) as perf_figures,
            'not collected: '
            || string_agg(distinct missing_name, ', ' order by missing_name) filter (
                where figure_name <> 'used_cpu'
            ) as missing_names
        from told
        group by all
    ),
    reasons as (
        select
            run_id,
            source_id,
            measurement_index,
            slot_key,
            core_key,
            string_agg(names || ': ' || reason, '; ' order by names) as reasons
        from
            (
                select
                    run_id,
                    source_id,
                    measurement_index,
                    slot_key,
                    coalesce(core_name, '') as core_key,
                    reason,
                    string_agg(figure_name, ', ' order by figure_name) as names
                from told
                where reason is not null
                group by all
            )
        group by all
    ),
    active as (
        select
            *,
            -- a core of a known processor may be several CPUs, but not more than two
            ratio(active_ns, dur_ns)
            > cpus * case cpu_basis when 'processor' then 2 else 1 end * 1.05 as is_beyond,
            case when not coalesce(is_beyond, false) then ratio(active_ns, dur_ns) end as own_count,
            coalesce(
                reason,
                case
                    when is_beyond
                    then
                        round(ratio(active_ns, dur_ns), 2)
                        || ' CPUs by the clock, of '
                        || cpus
                        || ' that are there'
                end
            ) as used_reason
        from cpu_active($run_id, $by, null)
    ),
    used as (
        select
            active.*,
            figures.* exclude (run_id, source_id, measurement_index, slot_key, running_ratio),
            figures.running_ratio as figure_ratio,
            -- without a time or a clock, as perf has it
            case
                when
                    own_count is null and not is_of_all and (dur_ns is null or active_basis is null)
                then value_of['used_cpu'].value
            end as said_count,
            case when core_name is null then coalesce(own_count, said_count) end as used_count
        from active
        left join figures using (run_id, source_id, measurement_index, slot_key)
    ),
    file as (from source_file where $run_id is null or run_id = $run_id)
select
    coalesce(used.target_name, file.file_name) as name,
    coalesce(used.core_name, used.slot_name) as part_name,
    used.slot_index as interval_index,
    used.dur_ns,
    used_count as used_cpu_count,
    value_of['clock'].value as clock_hz,
    value_of['ipc'].value as ipc,
    value_of['branch_miss'].value as branch_miss_ratio,
    value_of['cache_miss'].value as cache_miss_ratio,
    least(
        figure_ratio, case when used_count is not null then used.running_ratio end
    ) as running_ratio,
    cast(round(value_of['page_fault'].value) as bigint) as page_fault_count,
    cast(round(value_of['context_switch'].value) as bigint) as context_switch_count,
    value_of['l1d_miss'].value as l1d_miss_ratio,
    value_of['llc_miss'].value as llc_miss_ratio,
    value_of['dtlb_miss'].value as dtlb_miss_ratio,
    value_of['retiring'].value as retiring_ratio,
    value_of['bad_speculation'].value as bad_speculation_ratio,
    value_of['frontend'].value as frontend_bound_ratio,
    value_of['backend'].value as backend_bound_ratio,
    nullif(
        concat_ws(
            '; ',
            'CPUs: ' || case
                when used.core_name is not null
                then 'counted on all cores together'
                when used_count is null
                then used_reason
            end,
            case
                when used.dur_ns is null and used_count is not null
                then 'the file has no elapsed time'
            end,
            reasons,
            missing_names
        ),
        ''
    ) as reason,
    nullif(
        concat_ws(
            ', ',
            case when used.core_name is null and said_count is not null then 'used_cpu' end,
            perf_figures
        ),
        ''
    ) as perf_figures,
    case
        when used_count is not null and said_count is null then used.running_ratio
    end as used_cpu_running_ratio,
    value_of['clock'].running as clock_running_ratio,
    value_of['ipc'].running as ipc_running_ratio,
    value_of['branch_miss'].running as branch_miss_running_ratio,
    value_of['cache_miss'].running as cache_miss_running_ratio,
    value_of['l1d_miss'].running as l1d_miss_running_ratio,
    value_of['llc_miss'].running as llc_miss_running_ratio,
    value_of['dtlb_miss'].running as dtlb_miss_running_ratio,
    value_of['backend'].running as topdown_running_ratio,
    used.end_ns,
    case
        when used_count is not null and said_count is null then used.active_basis
    end as active_basis,
    used.measurement_index,
    file.file_name,
    used.run_id
from used
left join reasons using (run_id, source_id, measurement_index, slot_key, core_key)
join (from run_title where $run_id is null or run_id = $run_id) as run_title using (run_id)
left join file using (run_id, source_id)
order by
    run_title.title,
    used.run_id,
    file.file_name,
    used.source_id,
    used.measurement_index,
    used.slot_index,
    used.slot_name,
    used.core_name nulls first

-- purpose = "CPU utilization: active time of the cores over available time."
-- source = "Zhu 2018 (TBD), eq. 3: sum of active time over cores / (cores x elapsed time)"
-- topic = "processors"
-- needs = ["measurement"]
-- depends = ["cpu_active", "run_title", "label_value", "whole_sum", "first_reason", "one_or_mixed"]
-- parameters = "run_id-all by-file cpu_count-node"
-- cpu_count-node = {type = "BIGINT", doc = "CPUs per node; default: from the file, else the cores
-- of the processor", optional = true}
-- columns = "name-measured utilization_ratio active_ns active_cpu_count dur_ns cpu_count
-- active_basis cpu_basis source_count reason"
-- utilization_ratio = "active_ns / (cpu_count x elapsed time), over all files"
-- active_cpu_count = "DOUBLE: active_ns / elapsed time: mean number of active CPUs"
-- cpu_count = "DOUBLE: CPUs of all nodes"
with
    parts as (
        select
            run_id,
            source_id,
            case when $by = 'measurement' then measurement_index end as part_index,
            target_name,
            dur_ns,
            cpus,
            cpu_basis,
            active_basis,
            ratio(active_ns, dur_ns * cpus) > 1.05 as is_beyond,
            case when not coalesce(is_beyond, false) then active_ns end as active_ns,
            coalesce(
                reason,
                case
                    when cpus is null
                    then
                        'number of CPUs unknown: use --device at ingest, or '
                        || 'the parameter cpu_count'
                    when is_beyond
                    then
                        round(ratio(active_ns, dur_ns), 2)
                        || ' CPUs were active, of '
                        || cpus
                        || case
                            cpu_basis
                            when 'processor'
                            then ' cores: give the parameter cpu_count where a core has several'
                            else ' that are there'
                        end
                end
            ) as reason
        from cpu_active($run_id, 'measurement', $cpu_count)
    ),
    of_source as (
        select
            run_id,
            source_id,
            part_index,
            any_value(target_name) as target_name,
            whole_sum(dur_ns) as dur_ns,
            whole_sum(active_ns) as active_ns,
            whole_sum(cpus * dur_ns) as there_ns,
            max(cpus) as cpus,
            one_or_mixed(active_basis) as active_basis,
            one_or_mixed(cpu_basis) as cpu_basis,
            first_reason(reason, 'measurements') as reason
        from parts
        group by run_id, source_id, part_index
    ),
    grouped as (
        select
            run_id,
            case when $by <> 'run' then source_id end as owner_id,
            part_index,
            any_value(target_name) as target_name,
            count(*) as source_count,
            cast(case when count(dur_ns) = count(*) then max(dur_ns) end as bigint) as dur_ns,
            whole_sum(active_ns) as active_ns,
            whole_sum(there_ns) as there_ns,
            whole_sum(cpus) as cpus,
            one_or_mixed(active_basis) as active_basis,
            one_or_mixed(cpu_basis) as cpu_basis,
            first_reason(reason, 'files') as reason
        from of_source
        group by all
    ),
    file as (from source_file where $run_id is null or run_id = $run_id)
select
    case
        $by
        when 'run'
        then run_title.title
        when 'source'
        then file_name
        else coalesce(grouped.target_name, file_name)
    end as name,
    ratio(
        active_ns * coalesce(nullif(label_value.label_number, 0), 1), there_ns
    ) as utilization_ratio,
    active_ns,
    ratio(active_ns, dur_ns) as active_cpu_count,
    dur_ns,
    ratio(cpus, coalesce(nullif(label_value.label_number, 0), 1)) as cpu_count,
    active_basis,
    cpu_basis,
    source_count,
    reason
from grouped
join (from run_title where $run_id is null or run_id = $run_id) as run_title using (run_id)
left join file on file.run_id = grouped.run_id and file.source_id = grouped.owner_id
left join
    (from label_value where $run_id is null or run_id = $run_id) as label_value
    on $by = 'run'
    and label_value.run_id = grouped.run_id
    and label_value.label_name = 'ranks_per_node'
order by run_title.title, grouped.run_id, file_name, owner_id, part_index

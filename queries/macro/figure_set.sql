-- purpose = "Sets of events that give each metric of a source: those of the processor family (if
-- unknown, those complete on any), and the user's own."
-- source = "tables event_set, cpu_family and event_rule; docs/metrics.md, section Processor
-- counters"
-- needs = ["measurement"]
-- depends = ["cpu_known"]
-- parameters = "wanted_run"
-- columns = "run_id source_id set_name figure_name set_rank event_name is_of_family"
-- set_name = "VARCHAR: the set; user for the user's own"
-- figure_name = "VARCHAR: meaning of the sum: fp64, fp32, fp16, any, dram_read, dram_write, dram
-- or blind"
-- set_rank = "BIGINT: if several sets are complete, the lowest counts"
-- event_name = "event of the set"
-- is_of_family = "BOOLEAN: the processor is known to have the set"
with
    family as (
        select
            cpu_known.run_id,
            cpu_known.source_id,
            cpu_known.vendor_name,
            list(cpu_family.set_name) filter (where cpu_family.set_name is not null) as sets
        from cpu_known
        left join cpu_family using (architecture_name)
        where wanted_run is null or cpu_known.run_id = wanted_run
        group by cpu_known.run_id, cpu_known.source_id, cpu_known.vendor_name
    )
select
    family.run_id,
    family.source_id,
    event_set.set_name,
    event_set.figure_name,
    event_set.set_rank,
    event_set.event_name,
    family.sets is not null as is_of_family
from family
join
    event_set
    on case
        when family.sets is not null
        then list_contains(family.sets, event_set.set_name)
        else
            not event_set.is_by_family
            and coalesce(family.vendor_name = event_set.vendor_name, true)
    end
union all
select distinct
    run_id,
    source_id,
    'user' as set_name,
    case quantity_kind when 'flop' then precision_name else quantity_kind end as figure_name,
    -1 as set_rank,
    event_name,
    true as is_of_family
from event_rule
where wanted_run is null or run_id = wanted_run

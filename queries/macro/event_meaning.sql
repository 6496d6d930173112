-- purpose = "Meaning of each event of a source: from the user, else from tracekit."
-- source = "tables event_rule and event_model, each event with its source"
-- needs = ["measurement"]
-- depends = ["cpu_known", "figure_set"]
-- parameters = "wanted_run"
-- columns = "run_id source_id event_key event_name quantity_kind precision_name width_name amount"
-- event_key = "VARCHAR: event as the source spells it"
-- amount = "DOUBLE: operations or bytes per count; NULL if it depends on an unknown vector length"
with
    met as (
        select distinct run_id, source_id, event_key
        from counter
        where record_kind = 'event' and (wanted_run is null or run_id = wanted_run)
    ),
    processor as (
        select
            cpu_known.run_id,
            cpu_known.source_id,
            any_value(cpu_known.vendor_name) as vendor_name,
            any_value(cpu_family.vector_bits) as vector_bits
        from cpu_known
        left join cpu_family using (architecture_name)
        where wanted_run is null or cpu_known.run_id = wanted_run
        group by cpu_known.run_id, cpu_known.source_id
    ),
    offered as (
        select met.*, rule.* exclude (run_id, source_id, event_key), 0 as rule_rank
        from met
        join
            (from event_rule where wanted_run is null or run_id = wanted_run) as rule using (
                run_id, source_id, event_key
            )
        union all by name
        select met.*, event_model.* exclude (event_key), 1 as rule_rank
        from met
        join event_model using (event_key)
        join processor using (run_id, source_id)
        where
            coalesce(processor.vendor_name = event_model.vendor_name, not event_model.is_raw)
            -- a bare code means something else on another family
            and (
                not event_model.is_raw
                or exists (
                    from figure_set(wanted_run) as figure_set
                    where
                        figure_set.run_id = met.run_id
                        and figure_set.source_id = met.source_id
                        and figure_set.is_of_family
                        and figure_set.event_name = event_model.event_name
                )
            )
    )
select
    offered.run_id,
    offered.source_id,
    offered.event_key,
    offered.event_name,
    offered.quantity_kind,
    offered.precision_name,
    offered.width_name,
    offered.amount
    * case when offered.is_per_128_bits then ratio(processor.vector_bits, 128) else 1 end as amount
from offered
left join processor using (run_id, source_id)
qualify
    row_number() over (
        partition by offered.run_id, offered.source_id, offered.event_key
        order by rule_rank, offered.event_name, offered.quantity_kind, offered.amount
    )
    = 1

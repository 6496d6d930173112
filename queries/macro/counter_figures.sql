-- purpose = "Operations by precision and memory traffic, from events that give each completely:
-- for a measurement, an interval, a scope or a control group."
-- source = "Javed 2019, sect. 3 (eq. 1); docs/metrics.md, section Processor counters"
-- needs = ["measurement"]
-- depends = ["counter_slot", "event_quantity", "figure_set"]
-- parameters = "wanted_run slot_kind"
-- slot_kind = "what values are summed over: measurement, interval, scope or cgroup"
-- columns = "run_id source_id measurement_index slot_index slot_name slot_key dur_ns
-- end_ns-interval fp64_flop-any fp64_reason fp32_flop-any fp32_reason fp16_flop fp16_reason
-- total_flop-any total_low_flop total_high_flop total_reason dram_read_bytes dram_write_bytes
-- dram_bytes-cpu dram_low_bytes dram_high_bytes dram_reason"
with
    slots as (from counter_slot(wanted_run, slot_kind)),
    events as (from event_quantity(wanted_run, slot_kind, false)),
    sets as (
        select
            slots.run_id,
            slots.source_id,
            slots.measurement_index,
            slots.slot_key,
            figure_set.figure_name,
            figure_set.set_name,
            any_value(figure_set.set_rank) as set_rank,
            any_value(figure_set.is_of_family) as is_of_family,
            count(events.event_name) as found_count,
            case
                when
                    count(events.quantity) = count(*)
                    and min(events.unit_count) = max(events.unit_count)
                then sum(events.quantity)
            end as value,
            sum(events.low_quantity) as low,
            sum(events.high_quantity) as high,
            max(events.unit_count) as unit_count,
            case
                when
                    min(events.unit_count) < max(events.unit_count)
                    and count(events.quantity) = count(*)
                then
                    'one event was counted by '
                    || min(events.unit_count)
                    || ' units, another by '
                    || max(events.unit_count)
                when count(events.event_name) > 0
                then
                    arg_min(
                        figure_set.event_name || ': ' || coalesce(events.reason, 'not_collected'),
                        case when events.reason is null then 'b' else 'a' end
                        || figure_set.event_name
                    ) filter (where events.quantity is null)
            end as reason
        from slots
        join figure_set(wanted_run) as figure_set using (run_id, source_id)
        left join events using (run_id, source_id, measurement_index, slot_key, event_name)
        group by all
    ),
    figures as (
        select
            run_id,
            source_id,
            measurement_index,
            slot_key,
            map_from_entries(list((figure_name, figure))) as known
        from
            (
                select
                    * exclude (set_name, set_rank),
                    {
                        'value':value,
                        'low':low,
                        'high':high,
                        'reason':reason,
                        'found':found_count,
                        'units':unit_count,
                        'is_required':bool_or(is_of_family) over (
                            partition by run_id, source_id, figure_name
                        )
                    } as figure
                from sets
                qualify
                    row_number() over (
                        partition by run_id, source_id, measurement_index, slot_key, figure_name
                        order by
                            value is null,
                            case when value is null then - found_count end,
                            set_rank,
                            set_name
                    )
                    = 1
            )
        group by all
    ),
    -- events whose sum is a figure on some processors only
    others as (
        select
            run_id,
            source_id,
            measurement_index,
            slot_key,
            bool_or(quantity_kind = 'flop') as has_flop,
            bool_or(starts_with(quantity_kind, 'dram')) as has_dram
        from events
        group by all
    ),
    opened as (
        select
            slots.*,
            case
                when has_flop
                then 'which events give them goes by the processor: give --device at ingest'
                else 'no event that counts them was collected'
            end as no_flop_reason,
            case
                when has_dram
                then 'which events give them goes by the processor: give --device at ingest'
                else 'no event that counts them was collected'
            end as no_dram_reason,
            known['fp64'] as fp64,
            known['fp32'] as fp32,
            known['fp16'] as fp16,
            known['any'] as every,
            known['dram'] as joint,
            known['dram_read'] as reads,
            known['dram_write'] as writes,
            known['blind'] as blind
        from slots
        left join figures using (run_id, source_id, measurement_index, slot_key)
        left join others using (run_id, source_id, measurement_index, slot_key)
    ),
    explained as (
        select
            *,
            (every.value is not null and (fp64.value is null or fp32.value is null)) as is_together,
            case
                when is_together then 'precisions not distinguished' else no_flop_reason
            end as else_reason,
            case
                when is_together
                then null
                when
                    coalesce(every.found, 0) + coalesce(fp64.found, 0) + coalesce(fp32.found, 0) = 0
                then else_reason
                when every.found > 0 and coalesce(fp64.found, 0) + coalesce(fp32.found, 0) = 0
                then every.reason
                when fp64.value is null
                then 'fp64: ' || coalesce(fp64.reason, else_reason)
                when fp32.value is null
                then 'fp32: ' || coalesce(fp32.reason, else_reason)
                when fp16.value is null and fp16.is_required
                then 'fp16: ' || coalesce(fp16.reason, else_reason)
            end as unsummed_reason,
            case
                when blind.value > 0
                then 'matrix units worked, whose operations no event counts'
                when blind.value is null and blind.is_required
                then
                    'matrix units: ' || coalesce(
                        blind.reason, 'no event that tells whether they worked was collected'
                    )
            end as unseen_reason,
            coalesce(unsummed_reason, unseen_reason) as total_reason,
            case
                when joint.value is not null
                then null
                when joint.found > 0 and coalesce(reads.found, 0) = 0
                then joint.reason
                when reads.value is null
                then coalesce(reads.reason, joint.reason, no_dram_reason)
                when writes.value is null
                then coalesce(writes.reason, no_dram_reason)
                when reads.units <> writes.units
                then 'reads were counted by ' || reads.units || ' units, writes by ' || writes.units
            end as dram_reason
        from opened
    )
select
    run_id,
    source_id,
    measurement_index,
    slot_index,
    slot_name,
    slot_key,
    dur_ns,
    end_ns,
    fp64.value as fp64_flop,
    case
        when fp64.value is null
        then coalesce(case when not is_together then fp64.reason end, else_reason)
    end as fp64_reason,
    fp32.value as fp32_flop,
    case
        when fp32.value is null
        then coalesce(case when not is_together then fp32.reason end, else_reason)
    end as fp32_reason,
    fp16.value as fp16_flop,
    case
        when fp16.value is null
        then coalesce(case when not is_together then fp16.reason end, else_reason)
    end as fp16_reason,
    case
        when total_reason is null
        then
            case
                when is_together
                then every.value
                else fp64.value + fp32.value + coalesce(fp16.value, 0)
            end
    end as total_flop,
    case
        when total_reason is not null
        then greatest(every.low, list_sum([fp64.low, fp32.low, fp16.low]))
        when is_together
        then every.low
        else fp64.low + fp32.low + coalesce(fp16.low, 0)
    end as total_low_flop,
    case
        when total_reason is null
        then
            case
                when is_together then every.high else fp64.high + fp32.high + coalesce(fp16.high, 0)
            end
    end as total_high_flop,
    total_reason,
    reads.value as dram_read_bytes,
    writes.value as dram_write_bytes,
    case
        when dram_reason is null then coalesce(joint.value, reads.value + writes.value)
    end as dram_bytes,
    case
        when dram_reason is null
        then case when joint.value is null then reads.low + writes.low else joint.low end
    end as dram_low_bytes,
    case
        when dram_reason is null
        then case when joint.value is null then reads.high + writes.high else joint.high end
    end as dram_high_bytes,
    dram_reason
from explained

-- purpose = "Reliability of each processor counter: multiplexed, not counted or not supported,
-- and the effect on its figure."
-- source = "docs/metrics.md, section Processor counters: a count that ran part of the time can
-- miss events"
-- topic = "processors"
-- needs = ["measurement"]
-- depends = ["event_quantity", "event_value", "event_meaning", "run_title"]
-- parameters = "run_id-all"
-- columns = "event_name status_kind running_ratio doubt_ratio figure_name figure_share_ratio
-- figure_doubt_ratio spread_ratio value_count uncounted_count name"
-- status_kind = "worst status of its values: ok, scaled, unreadable, not_supported or not_counted"
-- doubt_ratio = "DOUBLE: possible error of its sum, from uncounted time and spread"
-- figure_name = "VARCHAR: figure that uses the event: fp32, dram_read …; NULL if none known"
-- figure_share_ratio = "DOUBLE: share of the counted total of that figure"
-- figure_doubt_ratio = "DOUBLE: possible error of the figure from this event alone; NULL if the
-- event is lost"
-- spread_ratio = "DOUBLE: largest standard error over repeats / value"
-- value_count = "BIGINT: values over files, measurements, scopes and intervals"
-- uncounted_count = "BIGINT: of these without a value"
-- name = "run"
with
    counts as (
        select
            run_id,
            event_key,
            min(event_name) as spelled_name,
            arg_max(
                status_kind,
                list_position(
                    ['ok', 'scaled', 'unreadable', 'not_supported', 'not_counted'], status_kind
                )
            ) as status_kind,
            count(*) as value_count,
            count(*) - count(value) as uncounted_count,
            min(running_ratio) as running_ratio,
            max(ratio(stddev, abs(value))) as spread_ratio,
            ratio(
                sum(
                    abs(value)
                    * ((1 - coalesce(running_ratio, 1)) + coalesce(ratio(stddev, abs(value)), 0))
                ),
                sum(abs(value))
            ) as value_doubt_ratio
        from event_value($run_id)
        group by run_id, event_key
    ),
    meant as (
        select distinct
            run_id,
            event_key,
            event_name,
            case quantity_kind when 'flop' then precision_name else quantity_kind end as figure_name
        from event_meaning($run_id)
        where quantity_kind in ('flop', 'dram', 'dram_read', 'dram_write')
    ),
    quantities as (
        select run_id, event_name, sum(quantity) as quantity
        from event_quantity($run_id, 'measurement', false)
        group by run_id, event_name
    )
select
    counts.spelled_name as event_name,
    counts.status_kind,
    counts.running_ratio,
    counts.value_doubt_ratio as doubt_ratio,
    meant.figure_name,
    ratio(
        quantities.quantity,
        sum(quantities.quantity) over (partition by counts.run_id, meant.figure_name)
    ) as figure_share_ratio,
    case
        when counts.uncounted_count = 0 then figure_share_ratio * counts.value_doubt_ratio
    end as figure_doubt_ratio,
    counts.spread_ratio,
    counts.value_count,
    counts.uncounted_count,
    run_title.title as name
from counts
join (from run_title where $run_id is null or run_id = $run_id) as run_title using (run_id)
left join meant using (run_id, event_key)
left join
    quantities on quantities.run_id = meant.run_id and quantities.event_name = meant.event_name
order by
    run_title.title,
    counts.run_id,
    list_position(
        ['ok', 'scaled', 'unreadable', 'not_supported', 'not_counted'], counts.status_kind
    ) desc,
    figure_doubt_ratio desc nulls last,
    doubt_ratio desc nulls last,
    counts.spelled_name,
    counts.event_key

-- purpose = "Floating-point instructions of processors by precision and vector width, with their
-- shares of the work."
-- source = "Javed 2019, sect. 4.2 and 5.2 (Fig. 10, 15)"
-- topic = "processors"
-- needs = ["measurement"]
-- answered_if = "exists (from event_quantity($run_id, 'measurement', false) where quantity_kind =
-- 'flop')"
-- depends = ["event_quantity", "figure_set", "run_title", "whole_sum", "first_reason"]
-- parameters = "run_id-all by-file"
-- columns = "name-measured precision_name width_name inst_count inst_share_ratio total_flop-row
-- flop_share_ratio reason run_id"
-- precision_name = "fp64, fp32, fp16 or any (not distinguished)"
-- width_name = "scalar, 128, 256, 512 bits, scalable or any"
-- inst_count = "DOUBLE: instructions; an FMA counts as two; NULL if not counted"
-- inst_share_ratio = "DOUBLE: share of all floating-point instructions; NULL unless all were
-- counted"
with
    counted as (
        select * from event_quantity($run_id, 'measurement', false) where quantity_kind = 'flop'
    ),
    -- what belongs to a figure of which at least one event was counted, and was not collected
    known as (
        select distinct event_name, precision_name, width_name
        from event_model
        where quantity_kind = 'flop'
    ),
    begun as (
        select distinct
            counted.run_id, counted.source_id, counted.measurement_index, figure_set.set_name
        from counted
        join figure_set($run_id) as figure_set using (run_id, source_id, event_name)
        where figure_set.figure_name in ('fp64', 'fp32')
        qualify
            dense_rank() over (
                partition by
                    counted.run_id,
                    counted.source_id,
                    counted.measurement_index,
                    figure_set.figure_name
                order by figure_set.set_rank, figure_set.set_name
            )
            = 1
    ),
    expected as (
        select distinct
            begun.run_id,
            begun.source_id,
            begun.measurement_index,
            known.event_name,
            known.precision_name,
            known.width_name
        from begun
        join figure_set($run_id) as figure_set using (run_id, source_id, set_name)
        join known on known.event_name = figure_set.event_name
    ),
    every as (
        select
            run_id,
            source_id,
            measurement_index,
            coalesce(counted.precision_name, expected.precision_name) as precision_name,
            coalesce(counted.width_name, expected.width_name) as width_name,
            counted.quantity,
            ratio(counted.quantity, counted.amount) as inst_count,
            case
                when counted.quantity is null
                then event_name || ': ' || coalesce(counted.reason, 'not_collected')
            end as reason
        from counted
        full join expected using (run_id, source_id, measurement_index, event_name)
    ),
    grouped as (
        select
            every.run_id,
            case when $by <> 'run' then every.source_id end as owner_id,
            case when $by = 'measurement' then every.measurement_index end as part_index,
            precision_name,
            width_name,
            whole_sum(inst_count) as inst_count,
            whole_sum(quantity) as total_flop,
            first_reason(reason, 'counts') as reason
        from every
        group by all
    ),
    shared as (
        select
            *,
            case
                when count(inst_count) over part = count(*) over part
                then ratio(inst_count, sum(inst_count) over part)
            end as inst_share_ratio,
            case
                when count(total_flop) over part = count(*) over part
                then ratio(total_flop, sum(total_flop) over part)
            end as flop_share_ratio
        from grouped
        window part as (partition by run_id, owner_id, part_index)
    ),
    file as (from source_file where $run_id is null or run_id = $run_id)
select
    case
        when $by = 'run' then run_title.title else coalesce(measurement.target_name, file_name)
    end as name,
    precision_name,
    width_name,
    inst_count,
    inst_share_ratio,
    total_flop,
    flop_share_ratio,
    reason,
    shared.run_id
from shared
join (from run_title where $run_id is null or run_id = $run_id) as run_title using (run_id)
left join file on file.run_id = shared.run_id and file.source_id = shared.owner_id
left join
    (from measurement where $run_id is null or run_id = $run_id) as measurement
    on measurement.run_id = shared.run_id
    and measurement.source_id = shared.owner_id
    and measurement.measurement_index = shared.part_index
order by
    run_title.title,
    shared.run_id,
    file_name,
    owner_id,
    part_index,
    list_position(['fp64', 'fp32', 'fp16', 'any'], precision_name),
    list_position(['scalar', '128', '256', '512', 'scalable', 'any'], width_name),
    precision_name,
    width_name

-- purpose = "Metrics of each table of results for a roofline: rate, intensity or traffic, and
-- time."
-- source = "docs/metrics.md, section Sweeps: rooflines of configurations"
-- needs = ["configuration"]
-- depends = ["byte_rate_scale", "flop_rate_scale", "sweep_table", "sweep_unknown"]
-- parameters = "wanted_run wanted_rate wanted_intensity wanted_weight"
-- wanted_weight = "VARCHAR: metric with the time; NULL: none"
-- columns = "run_id source_id-table base_id rate_name rate_scale moved_name moved_kind
-- moved_scale weight_name weight_scale reason"
-- base_id = "BIGINT: configuration_id of its row 0, as in sweep_table"
-- rate_name = "VARCHAR: metric with the rate"
-- rate_scale = "DOUBLE: FLOP/s per unit; NULL: the unit is a percentage of the peak"
-- moved_name = "VARCHAR: metric with the intensity or the traffic"
-- moved_kind = "VARCHAR: flop/byte, bytes/s or %, of the bandwidth"
-- moved_scale = "DOUBLE: bytes/s per unit, for traffic"
-- weight_name = "VARCHAR: metric with the time; NULL if none is asked for"
-- weight_scale = "DOUBLE: ns per unit; a percentage is of one second"
-- reason = "why the table has no roofline"
with
    known as (
        from sweep_unknown('metric', wanted_rate)
        union all
        from sweep_unknown('metric', wanted_intensity)
        union all
        from sweep_unknown('metric', wanted_weight)
    ),
    metrics as (
        select run_id, source_id, column_name, any_value(unit) as unit
        from configuration_value
        where role_kind = 'metric' and (wanted_run is null or run_id = wanted_run)
        group by run_id, source_id, column_name
    ),
    offered as (
        select
            *,
            'rate' as part,
            wanted_rate as wanted,
            flop_rate_scale(unit) as scale,
            case when scale is not null then 'flop/s' when unit = '%' then '%' end as kind,
            contains(lower(column_name), 'flop') as is_alike,
            case when kind = 'flop/s' then 1 when kind = '%' and is_alike then 2 end as own_rank
        from metrics
        union all
        select
            *,
            'intensity',
            wanted_intensity,
            byte_rate_scale(unit) as scale,
            case
                when regexp_full_match(unit, '(FLOPS|FLOPs?|flops?)/(B|[bB]ytes?)')
                then 'flop/byte'
                when
                    unit is null
                    and lower(column_name)
                    in ('intensity', 'operational_intensity', 'arithmetic_intensity')
                then 'flop/byte'
                when scale is not null
                then 'bytes/s'
                when unit = '%'
                then '%'
            end as kind,
            regexp_matches(lower(column_name), 'intensity|bandwidth') as is_alike,
            case
                when kind = 'flop/byte' and unit is not null
                then 1
                when kind = 'flop/byte'
                then 2
                when kind = 'bytes/s'
                then 3
                when kind = '%' and is_alike
                then 4
            end
        from metrics
        union all
        select
            *,
            'weight',
            wanted_weight,
            map{'ns':1.0, 'us':1e3, 'µs':1e3, 'ms':1e6, 's':1e9, 'ratio':1e9, '%':1e7}[
                unit
            ] as scale,
            case when scale is not null then 'ns' end,
            false,
            null
        from metrics
        where wanted_weight is not null
    ),
    ranked as (
        select
            *,
            case
                when wanted is null
                then own_rank
                when column_name = wanted and kind is not null
                then 1
            end as rank,
            rank = min(rank) over (partition by run_id, source_id, part) as is_best
        from offered
    ),
    chosen as (
        select
            run_id,
            source_id,
            part,
            any_value(column_name) filter (where is_best) as name,
            any_value(kind) filter (where is_best) as kind,
            any_value(scale) filter (where is_best) as scale,
            count(*) filter (where is_best) as best_count,
            string_agg(column_name, ', ' order by column_name) filter (where is_best) as best_names,
            string_agg(column_name, ', ' order by column_name) filter (
                where
                    kind is null
                    and case
                        when wanted is null then is_alike and unit is null else column_name = wanted
                    end
            ) as unclear_names,
            case
                when best_count > 1
                then 'several metrics could be the ' || part || ': ' || best_names
                when best_count = 1
                then null
                when unclear_names is not null
                then
                    'the '
                    || part
                    || ' needs a unit such as '
                    || case
                        part when 'rate' then 'GFLOP/s' when 'intensity' then 'FLOP/byte' else 'ms'
                    end
                    || ', which '
                    || unclear_names
                    || ' does not have'
                else 'no metric is the ' || part
            end as reason
        from ranked
        group by run_id, source_id, part
    )
select
    here.run_id,
    here.source_id,
    here.base_id,
    any_value(chosen.name) filter (where part = 'rate') as rate_name,
    any_value(chosen.scale) filter (where part = 'rate') as rate_scale,
    any_value(chosen.name) filter (where part = 'intensity') as moved_name,
    any_value(chosen.kind) filter (where part = 'intensity') as moved_kind,
    any_value(chosen.scale) filter (where part = 'intensity') as moved_scale,
    any_value(chosen.name) filter (where part = 'weight') as weight_name,
    any_value(chosen.scale) filter (where part = 'weight') as weight_scale,
    case
        when count(chosen.part) = 0
        then 'the table has no metric'
        else
            arg_min(chosen.reason, list_position(['rate', 'intensity', 'weight'], part)) filter (
                where chosen.reason is not null
            )
    end as reason
from sweep_table as here
left join chosen using (run_id, source_id)
where
    here.source_id <> 'run'
    and (wanted_run is null or here.run_id = wanted_run)
    and not exists (from known)
group by here.run_id, here.source_id, here.base_id

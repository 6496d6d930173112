-- purpose = "Operations of a processor by vector width in a source, and the peak that the user
-- gave for this width, the next wider one or the precision; of runs that counted all widths."
-- upon = "given_peak"
with
    width as (
        select
            source_id,
            precision_name,
            place,
            sum(amount * value_of['fp_arith_inst_retired.' || event]) as flop
        from plain_event
        cross join
            (
                values
                    ('fp64', 1, 1, 'scalar_double'),
                    ('fp64', 2, 2, '128b_packed_double'),
                    ('fp64', 3, 4, '256b_packed_double'),
                    ('fp64', 4, 8, '512b_packed_double'),
                    ('fp32', 1, 1, 'scalar_single'),
                    ('fp32', 2, 4, '128b_packed_single'),
                    ('fp32', 3, 8, '256b_packed_single'),
                    ('fp32', 4, 16, '512b_packed_single')
            ) as event(precision_name, place, amount, event)
        group by source_id, precision_name, place
        having count(value_of['fp_arith_inst_retired.' || event]) = count(*)
    ),
    ranked as (
        select
            *,
            ['_scalar', '_sse', '_avx2', '_avx512', ''] as endings,
            [precision_name || ending for ending in endings[place:]] as names,
            [name for name in names if peak_of[name] is not null][1] as known_name
        from width
        join given_peak using (source_id)
    )
select source_id, precision_name, flop, known_name, peak_of[known_name] as peak
from ranked
where
    (select count(*) from ranked)
    = 8 * (select count(distinct source_id) from measurement where run_id = $run_id)
    and (select count(*) from plain_event)
    = (select count(*) from measurement where run_id = $run_id)

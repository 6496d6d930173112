-- purpose = "Instructions by width are the counts of their events."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "fp_width_mix"
-- keys = ["precision_name", "width_name"]
-- needs = ["measurement", "counter"]
-- upon = "plain_event"
-- is_partial = true
-- skips_unknown = true
with
    width as (
        select precision_name, width_name, amount, event_key, value_of[event_key] as value
        from
            (
                values
                    ('fp64', 'scalar', 1, 'scalar_double'),
                    ('fp64', '128', 2, '128b_packed_double'),
                    ('fp64', '256', 4, '256b_packed_double'),
                    ('fp64', '512', 8, '512b_packed_double'),
                    ('fp32', 'scalar', 1, 'scalar_single'),
                    ('fp32', '128', 4, '128b_packed_single'),
                    ('fp32', '256', 8, '256b_packed_single'),
                    ('fp32', '512', 16, '512b_packed_single')
            ) as kind(precision_name, width_name, amount, ending),
            (select 'fp_arith_inst_retired.' || ending as event_key),
            plain_event
    )
select
    precision_name,
    width_name,
    $run_id as run_id,
    (select any_value(run_name) from run where run_id = $run_id) as name,
    sum(value) as inst_count,
    sum(amount * value) as total_flop,
    -- shares are of all that there are
    if(count(*) over () = 8, sum(value) / sum(sum(value)) over (), null) as inst_share_ratio,
    if(
        count(*) over () = 8, sum(amount * value) / sum(sum(amount * value)) over (), null
    ) as flop_share_ratio
from width
group by precision_name, width_name
having count(value) = (select count(*) from measurement where run_id = $run_id)

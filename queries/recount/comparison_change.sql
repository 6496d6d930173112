-- purpose = "Parts of two runs that have one name differ by less or more than noise can explain,
-- where that does not depend on the degrees of freedom."
-- source = "Welch 1947; quantiles of Student's t: 1.96 for any number of steps, 12.71 for two"
-- report = "comparison"
-- keys = ["name"]
-- options.by = ["kernel", "op", "phase", "category"]
-- options.other_run_id = []
-- needs = ["attribution"]
-- upon = "compared_part"
-- is_partial = true
-- skips_unknown = true
with
    spread as (
        select
            name,
            b_ns - a_ns as delta_ns,
            sqrt(
                pow(a_stddev_ns, 2) / a_step_count + pow(b_stddev_ns, 2) / b_step_count
            ) as error_ns
        from compared_part
    )
select
    name,
    case
        when delta_ns = 0 or abs(delta_ns) < 1.95 * error_ns
        then false
        when abs(delta_ns) > 12.8 * error_ns
        then true
    end as is_beyond_noise,
    case
        when is_beyond_noise = false
        then 'same'
        when is_beyond_noise or error_ns is null
        then if(delta_ns > 0, 'slower', 'faster')
    end as change_kind
from spread

-- purpose = "The operator with the most time of its own, and the next two, take their shares."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "host_op_time"
-- keys = ["source_id"]
-- needs = ["op_call", "calling_context"]
-- upon = "host_op_call"
-- is_partial = true
with
    summed as (
        select
            source_id,
            name,
            sum(self_ns) as own_ns,
            count(*) as calls,
            sum(self_ns) / sum(sum(self_ns)) over (partition by source_id) as share,
            any_value(elapsed_ns) as elapsed_ns
        from host_op_call
        -- what an operator calls for its own work counts as its own
        where source_id not in (select source_id from host_op_call where not is_outermost)
        group by source_id, name
        having sum(self_ns) > 0
    )
select * exclude (names, shares)
from
    (
        select
            source_id,
            list(name order by own_ns desc, name) as names,
            list(share order by own_ns desc, name) as shares,
            names[1] as name,
            max(own_ns) as total_ns,
            shares[1] as share_ratio,
            list(calls order by own_ns desc, name)[1] as call_count,
            names[2] as second_name,
            shares[2] as second_ratio,
            names[3] as third_name,
            shares[3] as third_ratio,
            any_value(elapsed_ns) as elapsed_ns
        from summed
        group by source_id
    )

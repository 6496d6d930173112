-- purpose = "Kernels whose collective or category the profiler gives: their class does not follow
-- from the name."
-- source = "tables kernel and work_sum"
-- needs = ["kernel"]
-- depends = ["summed_source"]
-- columns = "run_id source_id event_id collective_name category_name-kernel"
-- event_id = "kernel.event_id"
select run_id, source_id, event_id, collective_name, category_name
from kernel
-- mostly none: no kernel is read
semi join
    (
        select run_id, source_id
        from work_sum
        where collective_name is not null or category_name is not null
        union
        select run_id, source_id
        from summed_source
        where not has_sums
    ) using (run_id, source_id)
where collective_name is not null or category_name is not null

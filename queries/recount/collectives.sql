-- purpose = "Collectives take the time of the rows."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "collectives"
-- options.by = ["size", "kind", "call"]
-- needs = ["kernel"]
-- is_sum = true
-- is_partial = true
select sum(least(kernel.dur_ns, attribution.dur_ns)) as total_ns
from kernel
left join attribution using (run_id, source_id, event_id)
where run_id = $run_id and (collective_name is not null or starts_with(kernel.name, 'nccl'))
having
    count(*) > 0
    -- such as kernels on symmetric memory, which no library names
    and not exists (
        from kernel
        where
            run_id = $run_id
            and collective_name is null
            and regexp_matches(
                name, '(?i)multimem|symm_mem|cross_device|shmem|all_?(reduce|gather)'
            )
            and not starts_with(name, 'nccl')
    )

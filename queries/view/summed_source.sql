-- purpose = "Sources with kernels or work of devices, and the sums over it that they have: reports
-- read the work of those that lack one."
-- source = "table stored_table"
-- is_kept = true
-- columns = "run_id source_id has_steps has_sums has_mixes"
-- has_steps = "BOOLEAN: it has rows in step_work: of all of its kernels, copies and sets"
-- has_sums = "BOOLEAN: it has rows in work_sum"
-- has_mixes = "BOOLEAN: it has rows in work_mix"
select
    run_id,
    source_id,
    bool_or(table_name = 'step_work') as has_steps,
    bool_or(table_name = 'work_sum') as has_sums,
    bool_or(table_name = 'work_mix') as has_mixes
from stored_table
where table_name in ('kernel', 'attribution', 'step_work', 'work_sum', 'work_mix')
group by run_id, source_id

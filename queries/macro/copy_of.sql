-- purpose = "Which of several launches with one key on pages of one kind a row is, from 1: ranks
-- in containers can share process id, number and name."
-- source = "docs/metrics.md, section Which kernels count"
-- [parameters]
-- run = {type = "VARCHAR", doc = "run"}
-- key = {type = "BIGINT", doc = "launch_key"}
-- page = {type = "VARCHAR", doc = "page the row is of; NULL if it is unknown"}
-- cycles = {type = "DOUBLE", doc = "cycles that passed, which differ between launches"}
-- measured_ns = {type = "BIGINT", doc = "duration, where there are no cycles"}
case
    when page is null or coalesce(cycles, measured_ns) is null
    then 1
    else
        dense_rank() over (
            partition by run, key, page, cycles is null order by coalesce(cycles, measured_ns)
        )
end

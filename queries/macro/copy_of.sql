-- purpose = "Which of several launches with one key on pages of one kind a row is, from 1: ranks
-- in containers can share process id, number and name."
-- source = "docs/metrics.md, section Which kernels count"
-- parameters = "run key page cycles measured_ns"
-- run = "VARCHAR: run"
-- key = "BIGINT: launch_key"
-- page = "VARCHAR: page the row is of; NULL if it is unknown"
-- measured_ns = "BIGINT: duration, where there are no cycles"
case
    when page is null or coalesce(cycles, measured_ns) is null
    then 1
    else
        dense_rank() over (
            partition by run, key, page, cycles is null order by coalesce(cycles, measured_ns)
        )
end

-- purpose = "Number of a row among launches with one key on pages of one kind, from 1: ranks in
-- containers can share process id, number and name."
-- source = "docs/metrics.md, section Which kernels count"
-- parameters = "run key page cycles measured_ns"
-- run = "VARCHAR: run"
-- key = "BIGINT: launch_key"
-- page = "VARCHAR: report page of the row; NULL if unknown"
-- measured_ns = "BIGINT: duration, if there are no cycles"
case
    when page is null or coalesce(cycles, measured_ns) is null
    then 1
    else
        dense_rank() over (
            partition by run, key, page, cycles is null order by coalesce(cycles, measured_ns)
        )
end

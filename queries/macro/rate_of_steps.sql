-- purpose = "Steps per second: their number / the time from the start of the first to the end of
-- the last; NULL if one between them is missing."
-- source = "Zhu 2018 (TBD), sect. 3.4, throughput; docs/metrics.md, section Steps and the stable
-- phase"
-- parameters = "step_number its_elapsed_ns its_start_ns its_end_ns"
-- step_number = "BIGINT: number of a step"
-- its_elapsed_ns = "BIGINT: its time"
-- its_start_ns = "BIGINT: its start"
-- its_end_ns = "BIGINT: its end"
case
    when count(its_elapsed_ns) = max(step_number) - min(step_number) + 1
    then ratio(count(*) * 1e9, max(its_end_ns) - min(its_start_ns))
end

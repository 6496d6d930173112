-- purpose = "Steps per second: count / time from the first start to the last end; NULL if a step
-- between is missing."
-- source = "Zhu 2018 (TBD), sect. 3.4, throughput; docs/metrics.md, section Steps and the stable
-- phase"
-- parameters = "step_number its_elapsed_ns its_start_ns its_end_ns"
-- step_number = "BIGINT: step number"
-- its_elapsed_ns = "BIGINT: time of the step"
-- its_start_ns = "BIGINT: start of the step"
-- its_end_ns = "BIGINT: end of the step"
case
    when count(its_elapsed_ns) = max(step_number) - min(step_number) + 1
    then ratio(count(*) * 1e9, max(its_end_ns) - min(its_start_ns))
end

-- purpose = "The device of a launch; -1 in a run with one device, or none that is named: it says
-- nothing there."
-- source = "docs/metrics.md, section Launches"
-- [parameters]
-- run = {type = "VARCHAR", doc = "run of the launch"}
-- device = {type = "BIGINT", doc = "its device"}
case
    when
        min(coalesce(device, -1)) over (partition by run)
        = max(coalesce(device, -1)) over (partition by run)
    then -1
    else device
end

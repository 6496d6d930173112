-- purpose = "Device of a launch in a run with several devices; else -1, because a single device
-- or an unnamed one distinguishes no launches."
-- source = "docs/metrics.md, section Which kernels count"
-- parameters = "run_id device_id"
-- device_id = "BIGINT: device; NULL if unknown"
case
    when
        min(coalesce(device_id, -1)) over (partition by run_id)
        = max(coalesce(device_id, -1)) over (partition by run_id)
    then -1
    else device_id
end

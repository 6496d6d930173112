-- purpose = "Key to match device names: letters and digits in lower case, without vendor and
-- index."
-- source = "tracekit.peaks.device_key, the same rule in Python"
-- parameters = "device_name"
-- device_name = "VARCHAR: the name as a profiler prints it"
regexp_replace(
    lower(device_name),
    '^[^a-z0-9]*(nvidia|amd|intel|google)(\(r\)|[^a-z0-9])+|\((r|tm|[0-9]+)\)|[^a-z0-9]',
    '',
    'g'
)

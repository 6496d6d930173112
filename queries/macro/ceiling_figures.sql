-- purpose = "What a report of ceilings shows of one ceiling of a device."
-- source = "docs/metrics.md, section Ceilings"
-- [parameters]
-- kind = {type = "VARCHAR", doc = "compute, bandwidth or launch_overhead"}
-- peak = {type = "DOUBLE", doc = "the ceiling in a source"}
-- done = {type = "DOUBLE", doc = "operations or bytes under it"}
-- origin = {type = "VARCHAR", doc = "where the ceiling comes from"}
-- source = {type = "VARCHAR", doc = "the same as a text"}
-- spent_ns = {type = "BIGINT", doc = "time of the work"}
{
    'peak_flop_per_s': case kind when 'compute' then max(peak) end,
    'peak_bytes_per_s': case kind when 'bandwidth' then max(peak) end,
    'overhead_ns': case kind when 'launch_overhead' then max(peak) end,
    'work_flop': case kind when 'compute' then sum(done) end,
    'work_bytes': case kind when 'bandwidth' then sum(done) end,
    'origin_kind':arg_max(origin, peak),
    'source_text':arg_max(source, peak),
    'total_ns':cast(sum(spent_ns) as bigint)
}

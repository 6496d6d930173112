-- purpose = "Peak, work and source of a ceiling, over its rows: the columns of all reports of
-- ceilings."
-- source = "docs/metrics.md, section Ceilings"
-- parameters = "ceiling_kind value work origin_kind source_text total_ns"
-- ceiling_kind = "VARCHAR: compute, bandwidth or launch_overhead"
-- value = "DOUBLE: peak in a row"
-- work = "DOUBLE: operations or bytes in a row; NULL if unknown"
-- origin_kind = "VARCHAR: source of the peak: user, datasheet …"
-- source_text = "VARCHAR: source of the peak, in words"
-- total_ns = "BIGINT: time of the work in a row"
{
    'peak_flop_per_s': case ceiling_kind when 'compute' then max(value) end,
    'peak_bytes_per_s': case ceiling_kind when 'bandwidth' then max(value) end,
    'overhead_ns': case ceiling_kind when 'launch_overhead' then max(value) end,
    'work_flop': case ceiling_kind when 'compute' then sum(work) end,
    'work_bytes': case ceiling_kind when 'bandwidth' then sum(work) end,
    'origin_kind':arg_min(origin_kind, (- value, origin_kind, source_text)),
    'source_text':arg_min(source_text, (- value, origin_kind, source_text)),
    'total_ns':cast(sum(total_ns) as bigint)
}

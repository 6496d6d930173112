-- purpose = "A time in ns as microseconds with three decimals, for a Chrome trace."
-- source = "Trace Event Format: ts and dur are microseconds; docs/export.md, section Perfetto"
-- parameters = "trace_ns"
-- trace_ns = "BIGINT: time or duration"
case
    when abs(trace_ns) >= 1000
    then left(cast(trace_ns as varchar), -3) || '.' || right(cast(trace_ns as varchar), 3)
    else
        case when trace_ns < 0 then '-' else '' end
        || '0.'
        || lpad(cast(abs(trace_ns) as varchar), 3, '0')
end

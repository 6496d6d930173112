-- purpose = "Traffic of a launch at one cache, as in level_traffic."
-- source = "docs/metrics.md, section Where other tools differ"
-- parameters = "level_name byte_definition paper_bytes vendor_bytes level_ns reason"
-- level_name = "VARCHAR: l2 or l1"
-- paper_bytes = "BIGINT: bytes as the papers count them"
-- vendor_bytes = "BIGINT: bytes as the vendor counts them"
-- level_ns = "DOUBLE: time of the bytes at peak; NULL if unknown"
-- reason = "VARCHAR: why both values are NULL"
{
    'level_name':level_name,
    'traffic_bytes': case
        byte_definition
        when 'paper'
        then paper_bytes
        when 'vendor'
        then vendor_bytes
        else coalesce(paper_bytes, vendor_bytes)
    end,
    'traffic_ns':level_ns,
    'traffic_reason':reason,
    'definition': case
        when byte_definition <> 'any'
        then byte_definition
        when paper_bytes is not null
        then 'paper'
        when vendor_bytes is not null
        then 'vendor'
    end
}

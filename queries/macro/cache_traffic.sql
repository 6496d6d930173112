-- purpose = "What a launch moved at one cache, by one definition of its bytes."
-- source = "docs/metrics.md, section Operational intensity"
-- [parameters]
-- level = {type = "VARCHAR", doc = "l2 or l1"}
-- byte_definition = {type = "VARCHAR", doc = "paper, vendor or any: paper, else vendor"}
-- paper_bytes = {type = "BIGINT", doc = "bytes by the paper's definition"}
-- vendor_bytes = {type = "BIGINT", doc = "bytes by the vendor's"}
-- level_ns = {type = "DOUBLE", doc = "time of the bytes at peak"}
-- reason = {type = "VARCHAR", doc = "why they are NULL"}
{
    'level_name':level,
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

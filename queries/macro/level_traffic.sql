-- purpose = "The traffic of a launch at each level of memory: a list with dram, l2 and l1, or with
-- the one that is wanted."
-- source = "docs/metrics.md, section Where other tools differ"
-- [parameters]
-- wanted_level = {type = "VARCHAR", doc = "all, dram, l2 or l1"}
-- byte_definition = {type = "VARCHAR", doc = "bytes of L2 and L1: paper, vendor or any, the first
-- that was collected"}
-- dram_bytes = {type = "BIGINT", doc = "bytes of device memory"}
-- dram_ns = {type = "DOUBLE", doc = "their time at peak"}
-- dram_reason = {type = "VARCHAR", doc = "why they are not known"}
-- l2_paper_bytes = {type = "BIGINT", doc = "bytes of L2 as the papers count them"}
-- l2_vendor_bytes = {type = "BIGINT", doc = "the same as the vendor counts them"}
-- l2_ns = {type = "DOUBLE", doc = "time of the bytes of L2 at peak"}
-- l2_reason = {type = "VARCHAR", doc = "why they are not known"}
-- l1_paper_bytes = {type = "BIGINT", doc = "bytes of L1 as the papers count them"}
-- l1_vendor_bytes = {type = "BIGINT", doc = "the same as the vendor counts them"}
-- l1_ns = {type = "DOUBLE", doc = "time of the bytes of L1 at peak"}
-- l1_reason = {type = "VARCHAR", doc = "why they are not known"}
list_filter(
    [
        {
            'level_name':'dram',
            'traffic_bytes':dram_bytes,
            'traffic_ns':dram_ns,
            'traffic_reason':dram_reason,
            'definition':null
        },
        {
            'level_name':'l2',
            'traffic_bytes': case
                byte_definition
                when 'paper'
                then l2_paper_bytes
                when 'vendor'
                then l2_vendor_bytes
                else coalesce(l2_paper_bytes, l2_vendor_bytes)
            end,
            'traffic_ns':l2_ns,
            'traffic_reason':l2_reason,
            'definition': case
                when byte_definition <> 'any'
                then byte_definition
                when l2_paper_bytes is not null
                then 'paper'
                when l2_vendor_bytes is not null
                then 'vendor'
            end
        },
        {
            'level_name':'l1',
            'traffic_bytes': case
                byte_definition
                when 'paper'
                then l1_paper_bytes
                when 'vendor'
                then l1_vendor_bytes
                else coalesce(l1_paper_bytes, l1_vendor_bytes)
            end,
            'traffic_ns':l1_ns,
            'traffic_reason':l1_reason,
            'definition': case
                when byte_definition <> 'any'
                then byte_definition
                when l1_paper_bytes is not null
                then 'paper'
                when l1_vendor_bytes is not null
                then 'vendor'
            end
        }
    ],
    lambda place:wanted_level in ('all', place.level_name)
)

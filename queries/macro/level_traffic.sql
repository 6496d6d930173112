-- purpose = "Traffic of a launch at each memory level: a list with dram, l2 and l1, or only with
-- the requested one."
-- source = "docs/metrics.md, section Where other tools differ"
-- parameters = "wanted_level byte_definition dram_bytes dram_ns dram_reason l2_paper_bytes
-- l2_vendor_bytes l2_ns l2_reason l1_paper_bytes l1_vendor_bytes l1_ns l1_reason"
-- wanted_level = "VARCHAR: all, dram, l2 or l1"
-- byte_definition = "VARCHAR: L2 and L1 bytes: paper, vendor or any (the first collected)"
-- dram_bytes = "BIGINT: bytes of device memory"
-- dram_reason = "VARCHAR: why dram_bytes is NULL"
-- l2_paper_bytes = "BIGINT: L2 bytes as the papers count them"
-- l2_vendor_bytes = "BIGINT: L2 bytes as the vendor counts them"
-- l2_reason = "VARCHAR: why both L2 values are NULL"
-- l1_paper_bytes = "BIGINT: L1 bytes as the papers count them"
-- l1_vendor_bytes = "BIGINT: L1 bytes as the vendor counts them"
-- l1_reason = "VARCHAR: why both L1 values are NULL"
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

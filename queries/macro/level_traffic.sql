-- purpose = "Traffic of a launch at each memory level: a list with dram, l2 and l1, or only with
-- the requested one."
-- source = "docs/metrics.md, section Where other tools differ"
-- depends = ["cache_traffic"]
-- parameters = "wanted_level byte_definition dram_bytes dram_ns dram_reason l2_paper_bytes
-- l2_vendor_bytes l2_ns l2_reason l1_paper_bytes l1_vendor_bytes l1_ns l1_reason"
-- wanted_level = "VARCHAR: all, dram, l2 or l1"
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
        cache_traffic('l2', byte_definition, l2_paper_bytes, l2_vendor_bytes, l2_ns, l2_reason),
        cache_traffic('l1', byte_definition, l1_paper_bytes, l1_vendor_bytes, l1_ns, l1_reason)
    ],
    lambda place:wanted_level in ('all', place.level_name)
)

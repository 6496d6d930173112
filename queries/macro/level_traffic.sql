-- purpose = "The traffic of a launch at each level of memory: a list with dram, l2 and l1, or with
-- the one that is wanted."
-- source = "docs/metrics.md, section Bytes of L2 and L1"
-- depends = ["cache_traffic"]
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
        cache_traffic('l2', byte_definition, l2_paper_bytes, l2_vendor_bytes, l2_ns, l2_reason),
        cache_traffic('l1', byte_definition, l1_paper_bytes, l1_vendor_bytes, l1_ns, l1_reason)
    ],
    lambda place:wanted_level in ('all', place.level_name)
)

-- purpose = "What device work is: compute, communication, memcpy or memset. The one rule that every report of a timeline goes by."
-- source = "docs/metrics.md, section overlap"
-- depends = ["is_communication", "is_async_copy"]
-- [parameters]
-- work_kind = {type = "VARCHAR", doc = "kernel, memcpy or memset"}
-- work_name = {type = "VARCHAR", doc = "name of the kernel"}
-- collective_name = {type = "VARCHAR", doc = "`kernel.collective_name`"}
-- category_name = {type = "VARCHAR", doc = "`kernel.category_name`"}
CASE
    WHEN work_kind <> 'kernel' THEN work_kind
    WHEN is_communication(work_name, collective_name, category_name) THEN 'communication'
    WHEN is_async_copy(work_name, category_name) THEN 'memcpy'
    ELSE 'compute'
END

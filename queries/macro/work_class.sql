-- purpose = "Class of device work, for every report of a timeline: compute, communication, memcpy
-- or memset."
-- source = "docs/metrics.md, section overlap"
-- depends = ["is_communication", "is_async_copy"]
-- parameters = "work_kind work_name collective_name category_name"
-- work_kind = "VARCHAR: kernel, memcpy or memset"
-- work_name = "VARCHAR: kernel name"
-- collective_name = "VARCHAR: kernel.collective_name"
-- category_name = "VARCHAR: kernel.category_name"
case
    when work_kind <> 'kernel'
    then work_kind
    when is_communication(work_name, collective_name, category_name)
    then 'communication'
    when is_async_copy(work_name, category_name)
    then 'memcpy'
    else 'compute'
end

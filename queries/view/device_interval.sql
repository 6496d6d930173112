-- purpose = "Every interval of device work: kernels, copies and memsets, with their end."
-- source = "Zhu 2018 (TBD), eq. 1: the times at which the GPU is active"
-- needs = ["kernel", "transfer"]
-- depends = ["work_class"]
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- source_id = {type = "VARCHAR", doc = "source"}
-- device_id = {type = "BIGINT", doc = "device; NULL if unknown"}
-- work_class = {type = "VARCHAR", doc = "compute, communication, memcpy or memset"}
-- start_ns = {type = "BIGINT", doc = "start"}
-- end_ns = {type = "BIGINT", doc = "end"}
select
    run_id,
    source_id,
    device_id,
    work_class('kernel', name, collective_name, category_name) as work_class,
    start_ns,
    start_ns + dur_ns as end_ns
from kernel
where start_ns is not null and dur_ns is not null
union all
select
    run_id, source_id, device_id, transfer_kind as work_class, start_ns, start_ns + dur_ns as end_ns
from transfer
where start_ns is not null and dur_ns is not null

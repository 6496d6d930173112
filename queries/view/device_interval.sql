-- purpose = "Intervals of device work: kernels, copies and memsets, with their end."
-- source = "Zhu 2018 (TBD), eq. 1: the times at which the GPU is active"
-- needs = ["kernel", "transfer"]
-- depends = ["work_class"]
-- columns = "run_id source_id device_id work_class start_ns end_ns"
-- work_class = "VARCHAR: compute, communication, memcpy or memset"
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

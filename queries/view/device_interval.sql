-- purpose = "Every interval of device work: kernels, copies and sets, with their end."
-- source = "Zhu 2018 (TBD), eq. 1: the times at which the GPU is active"
-- needs = ["kernel", "transfer"]
-- depends = ["work_class"]
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- source_id = {type = "VARCHAR", doc = "source"}
-- device_id = {type = "BIGINT", doc = "device; NULL where the file does not say"}
-- work_class = {type = "VARCHAR", doc = "compute, communication, memcpy or memset"}
-- start_ns = {type = "BIGINT", doc = "start"}
-- end_ns = {type = "BIGINT", doc = "end"}
SELECT run_id, source_id, device_id, work_class('kernel', name, collective_name, category_name) AS work_class, start_ns, start_ns + dur_ns AS end_ns
FROM kernel
WHERE start_ns IS NOT NULL AND dur_ns IS NOT NULL
UNION ALL
SELECT run_id, source_id, device_id, transfer_kind AS work_class, start_ns, start_ns + dur_ns AS end_ns
FROM transfer
WHERE start_ns IS NOT NULL AND dur_ns IS NOT NULL

-- purpose = "Every interval of device work: kernels, copies and sets, with their end."
-- source = "Zhu 2018 (TBD), eq. 1: the times at which the GPU is active"
-- needs = ["kernel", "transfer"]
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- source_id = {type = "VARCHAR", doc = "source"}
-- device_id = {type = "BIGINT", doc = "device; NULL where the file does not say"}
-- work_kind = {type = "VARCHAR", doc = "'kernel', 'memcpy' or 'memset'"}
-- start_ns = {type = "BIGINT", doc = "start"}
-- end_ns = {type = "BIGINT", doc = "end"}
SELECT run_id, source_id, device_id, 'kernel' AS work_kind, start_ns, start_ns + dur_ns AS end_ns
FROM kernel
WHERE start_ns IS NOT NULL AND dur_ns IS NOT NULL
UNION ALL
SELECT run_id, source_id, device_id, transfer_kind AS work_kind, start_ns, start_ns + dur_ns AS end_ns
FROM transfer
WHERE start_ns IS NOT NULL AND dur_ns IS NOT NULL

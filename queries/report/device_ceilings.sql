-- purpose = "What each device of a run can do at most, by whom; with the operations per byte from which on it computes, and the least work of a launch."
-- source = "Wang Y. 2020 (Time-Based Roofline), sect. II: machine balance, peak x L; the figures by their own sources"
-- needs = ["device"]
-- depends = ["device_ceiling"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run; NULL for all of them", optional = true}
-- launch_overhead_ns = {type = "DOUBLE", doc = "time of one launch; if not given, that of the device", optional = true}
-- [columns]
-- device_name = {type = "VARCHAR", doc = "device"}
-- ceiling_name = {type = "VARCHAR", doc = "e.g. fp32, tensor_fp16, dram"}
-- peak_flop_per_s = {type = "DOUBLE", doc = "operations"}
-- peak_bytes_per_s = {type = "DOUBLE", doc = "traffic"}
-- overhead_ns = {type = "DOUBLE", doc = "one launch"}
-- ridge_flop_per_byte = {type = "DOUBLE", doc = "machine balance, the ridge point: this peak over the bandwidth of device memory"}
-- least_flop = {type = "DOUBLE", doc = "this peak x the time of one launch: work that takes as long as launching it"}
-- origin_kind = {type = "VARCHAR", doc = "user, datasheet, computed or measured"}
-- source_text = {type = "VARCHAR", doc = "where the figure comes from"}
-- source_id = {type = "VARCHAR", doc = "source"}
-- device_id = {type = "BIGINT", doc = "device as the file numbers it"}
WITH
chosen AS (
    SELECT
        *,
        any_value(value) FILTER (WHERE ceiling_name = 'dram') OVER same AS dram_bytes_per_s,
        coalesce($launch_overhead_ns, any_value(value) FILTER (WHERE ceiling_kind = 'launch_overhead') OVER same)
            AS launch_ns
    FROM device_ceiling
    WHERE $run_id IS NULL OR run_id = $run_id
    WINDOW same AS (PARTITION BY run_id, source_id, device_id)
)
SELECT
    device_name, ceiling_name,
    CASE WHEN ceiling_kind = 'compute' THEN value END AS peak_flop_per_s,
    CASE WHEN ceiling_kind = 'bandwidth' THEN value END AS peak_bytes_per_s,
    CASE WHEN ceiling_kind = 'launch_overhead' THEN value END AS overhead_ns,
    CASE WHEN ceiling_kind = 'compute' THEN ratio(value, dram_bytes_per_s) END AS ridge_flop_per_byte,
    CASE WHEN ceiling_kind = 'compute' THEN value * launch_ns * 1e-9 END AS least_flop,
    origin_kind, source_text, source_id, device_id
FROM chosen
ORDER BY
    device_name, source_id, device_id,
    list_position(['compute', 'bandwidth', 'launch_overhead'], ceiling_kind), value DESC, ceiling_name

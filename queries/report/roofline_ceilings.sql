-- purpose = "The ceilings of a roofline: what the devices of a run can do at most, with the work that was done under each."
-- source = "Wang Y. 2020 (Time-Based Roofline), sect. II and III.B; the figures by their own sources"
-- needs = ["kernel_counter"]
-- depends = ["work_under", "device_ceiling"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run; NULL for all of them", optional = true}
-- fp16_convention = {type = "VARCHAR", doc = "arithmetic: FP16 instructions that are work, not moves or conversions, each two operations; packed: all of them (the vendor); scalar: all, each one operation (Wang Y. 2020)", default = "arithmetic", choices = ["arithmetic", "packed", "scalar"]}
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- device_name = {type = "VARCHAR", doc = "device; NULL if unknown"}
-- ceiling_kind = {type = "VARCHAR", doc = "compute, bandwidth or launch_overhead"}
-- ceiling_name = {type = "VARCHAR", doc = "e.g. fp32, tensor_fp16, dram"}
-- peak_flop_per_s = {type = "DOUBLE", doc = "of compute: operations; of several devices of one name, and of the launches of a report, the largest; NULL where work was done and no peak is known"}
-- peak_bytes_per_s = {type = "DOUBLE", doc = "of bandwidth: traffic"}
-- overhead_ns = {type = "DOUBLE", doc = "of launch_overhead: one launch"}
-- work_flop = {type = "DOUBLE", doc = "of compute: operations of that precision in all launches; NULL where not counted"}
-- work_bytes = {type = "DOUBLE", doc = "of bandwidth: bytes at that level in all launches; NULL where not counted"}
-- origin_kind = {type = "VARCHAR", doc = "user, datasheet, computed or measured; report: the launches' own peak_sustained x clock"}
-- source_text = {type = "VARCHAR", doc = "where the figure comes from"}
-- total_ns = {type = "BIGINT", doc = "sum of the durations on that device"}
WITH
kinds AS (
    SELECT
        run_id, source_id, device_id, device_name, dur_ns,
        unnest([
            {'ceiling_name': 'fp64', 'work': fp64_flop, 'own': own_fp64_flop_per_s},
            {'ceiling_name': 'fp32', 'work': fp32_flop, 'own': own_fp32_flop_per_s},
            {
                'ceiling_name': 'fp16', 'own': own_fp16_flop_per_s,
                'work': fp16_flop
            },
            {'ceiling_name': 'tensor_fp64', 'work': tensor_fp64_flop, 'own': own_tensor_fp64_flop_per_s},
            {'ceiling_name': 'tensor_tf32', 'work': tensor_tf32_flop, 'own': own_tensor_tf32_flop_per_s},
            {'ceiling_name': 'tensor_bf16', 'work': tensor_bf16_flop, 'own': own_tensor_bf16_flop_per_s},
            {'ceiling_name': 'tensor_fp16', 'work': tensor_fp16_flop, 'own': own_tensor_fp16_flop_per_s},
            {'ceiling_name': 'tensor_fp8', 'work': tensor_fp8_flop, 'own': own_tensor_fp8_flop_per_s},
            {'ceiling_name': 'tensor_fp4', 'work': tensor_fp4_flop, 'own': own_tensor_fp4_flop_per_s},
            {'ceiling_name': 'tensor_int8', 'work': nullif(tensor_int_flop, 0), 'own': own_tensor_int8_flop_per_s},
            {'ceiling_name': 'dram', 'work': dram_bytes, 'own': own_dram_bytes_per_s},
            {
                'ceiling_name': 'l2', 'work': coalesce(l2_paper_bytes, l2_vendor_bytes),
                'own': CASE WHEN l2_paper_bytes IS NOT NULL THEN own_l2_paper_bytes_per_s ELSE own_l2_vendor_bytes_per_s END
            },
            {
                'ceiling_name': 'l1', 'work': coalesce(l1_paper_bytes, l1_vendor_bytes),
                'own': CASE WHEN l1_paper_bytes IS NOT NULL THEN own_l1_paper_bytes_per_s ELSE own_l1_vendor_bytes_per_s END
            }
        ], recursive := true)
    FROM work_under('fp32', $fp16_convention)
    WHERE $run_id IS NULL OR run_id = $run_id
),
worked AS (
    SELECT
        run_id, source_id, device_id, ceiling_name,
        any_value(device_name) AS device_name,
        CAST(sum(work) AS DOUBLE) AS work,
        max(own) AS own,
        sum(dur_ns) AS total_ns
    FROM kinds
    GROUP BY run_id, source_id, device_id, ceiling_name
),
devices AS (
    SELECT run_id, source_id, device_id, any_value(device_name) AS device_name, max(total_ns) AS total_ns
    FROM worked
    GROUP BY run_id, source_id, device_id
),
known AS (
    SELECT
        devices.run_id, devices.source_id, devices.device_id, devices.device_name, devices.total_ns,
        device_ceiling.ceiling_kind, device_ceiling.ceiling_name, device_ceiling.value,
        device_ceiling.origin_kind, device_ceiling.source_text
    FROM devices
    JOIN device_ceiling
        ON device_ceiling.run_id = devices.run_id
        AND device_ceiling.source_id = devices.source_id
        AND device_ceiling.device_id IS NOT DISTINCT FROM devices.device_id
        AND ($run_id IS NULL OR device_ceiling.run_id = $run_id)
),
offered AS (
    SELECT
        known.* EXCLUDE (source_id, device_id), worked.work
    FROM known
    LEFT JOIN worked
        ON worked.run_id = known.run_id
        AND worked.source_id = known.source_id
        AND worked.device_id IS NOT DISTINCT FROM known.device_id
        AND worked.ceiling_name = known.ceiling_name
    UNION ALL BY NAME
    -- what the report says of its launches, where nobody says more of the device
    SELECT
        worked.run_id, worked.device_name, worked.total_ns,
        CASE WHEN worked.ceiling_name IN ('dram', 'l2', 'l1') THEN 'bandwidth' ELSE 'compute' END AS ceiling_kind,
        worked.ceiling_name, worked.own AS value,
        CASE WHEN worked.own IS NOT NULL THEN 'report' END AS origin_kind,
        CASE WHEN worked.own IS NOT NULL THEN 'the report: peak_sustained x clock' END AS source_text,
        worked.work
    FROM worked
    LEFT JOIN known
        ON known.run_id = worked.run_id
        AND known.source_id = worked.source_id
        AND known.device_id IS NOT DISTINCT FROM worked.device_id
        AND known.ceiling_name = worked.ceiling_name
    WHERE known.ceiling_name IS NULL AND (worked.own IS NOT NULL OR worked.work > 0)
)
SELECT
    run_id, device_name, ceiling_kind, ceiling_name,
    CASE
        WHEN ceiling_kind = 'compute'
        THEN max(value) * CASE WHEN ceiling_name = 'fp16' AND $fp16_convention = 'scalar' THEN 0.5 ELSE 1 END
    END AS peak_flop_per_s,
    CASE ceiling_kind WHEN 'bandwidth' THEN max(value) END AS peak_bytes_per_s,
    CASE ceiling_kind WHEN 'launch_overhead' THEN max(value) END AS overhead_ns,
    CASE ceiling_kind WHEN 'compute' THEN sum(work) END AS work_flop,
    CASE ceiling_kind WHEN 'bandwidth' THEN sum(work) END AS work_bytes,
    arg_max(origin_kind, value) AS origin_kind,
    arg_max(source_text, value) AS source_text,
    CAST(sum(total_ns) AS BIGINT) AS total_ns
FROM offered
GROUP BY run_id, device_name, ceiling_kind, ceiling_name
ORDER BY
    run_id, max(sum(total_ns)) OVER (PARTITION BY run_id, device_name) DESC NULLS LAST, device_name,
    list_position(['compute', 'bandwidth', 'launch_overhead'], ceiling_kind), max(value) DESC NULLS LAST, ceiling_name

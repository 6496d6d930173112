-- purpose = "How much of each device was used while it was profiled: time, operations against its peak, traffic against its memory; by device, or by host, whose TPUs are a board."
-- source = "Wang Y. E. 2020 (ParaDnn), sect. 4.1: average FLOPS / peak FLOPS, of a core and of a board (sect. 3); Zhu 2018 (TBD), eq. 1; docs/metrics.md, section Operators"
-- needs = ["op_stat"]
-- depends = ["op_under", "op_machine", "device_interval"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run"}
-- by = {type = "VARCHAR", doc = "what a row stands for: device (of a TPU v2 or v3 a core) or host (all devices of a source: four chips of a TPU are a board)", default = "device", choices = ["device", "host"]}
-- ceiling = {type = "VARCHAR", doc = "compute peak: tensor_bf16, fp32 …; if not given, that of 16-bit matrix operations, else the profiler's own, else fp32", optional = true}
-- [columns]
-- source_id = {type = "VARCHAR", doc = "source (host)"}
-- device_id = {type = "BIGINT", doc = "device; NULL with by=host, and where the dump adds devices up"}
-- device_name = {type = "VARCHAR", doc = "its name"}
-- busy_ratio = {type = "DOUBLE", doc = "busy_ns / window_ns"}
-- flop_utilization_ratio = {type = "DOUBLE", doc = "total_flop / (peak_flop_per_s x window_ns)"}
-- bandwidth_utilization_ratio = {type = "DOUBLE", doc = "total_bytes / (peak_bytes_per_s x window_ns)"}
-- busy_ns = {type = "BIGINT", doc = "time with at least one kernel running (union); without a timeline time in operators; of a host the sum of its devices"}
-- window_ns = {type = "BIGINT", doc = "time of the profile; of a host it counts once for each device"}
-- window_basis = {type = "VARCHAR", doc = "timeline (first start to last end of anything in the source) or operators (their time and the idle time, of all devices that the dump adds up)"}
-- total_flop = {type = "DOUBLE", doc = "operations that are known"}
-- total_bytes = {type = "DOUBLE", doc = "bytes that are known"}
-- known_time_ratio = {type = "DOUBLE", doc = "share of the operators' time whose operations are known; the others count as none"}
-- device_count = {type = "BIGINT", doc = "devices with work; NULL where the dump adds devices up"}
-- ceiling_name = {type = "VARCHAR", doc = "which compute peak"}
-- peak_flop_per_s = {type = "DOUBLE", doc = "the peak: of a host that of its board where that is known, else the sum of its devices"}
-- peak_bytes_per_s = {type = "DOUBLE", doc = "that of device memory, likewise"}
-- scope_name = {type = "VARCHAR", doc = "what the peaks are of: core, package, board …, 8 x core, or TPU v3 board; reported: what the profiler calls a device"}
-- peak_basis = {type = "VARCHAR", doc = "user, datasheet, computed, measured or reported"}
-- reason = {type = "VARCHAR", doc = "why a ratio is NULL"}
WITH
ops AS (
    SELECT * FROM op_under($run_id, $ceiling)
    WHERE side_kind = 'device'
    -- the same time stands under both
    QUALIFY op_kind = CASE WHEN bool_or(op_kind = 'hlo') OVER (PARTITION BY source_id) THEN 'hlo' ELSE 'framework' END
),
work AS (
    SELECT
        source_id, device_id,
        sum(total_flop) AS total_flop,
        sum(total_bytes) AS total_bytes,
        sum(self_ns) FILTER (WHERE op_class <> 'idle') AS op_ns,
        sum(self_ns) FILTER (WHERE op_class = 'idle') AS idle_ns,
        sum(self_ns) FILTER (WHERE total_flop IS NOT NULL) AS known_ns
    FROM ops
    GROUP BY source_id, device_id
),
-- where the dump adds up what ran, it says how long nothing did
idles AS (
    SELECT source_id, CAST(sum(value) AS BIGINT) AS idle_ns
    FROM counter
    WHERE run_id = $run_id AND event_name = 'IDLE' AND record_kind = 'metric' AND scope_name = 'Device' AND unit = 'ns'
    GROUP BY source_id
),
reached AS (
    SELECT
        source_id, device_id, start_ns, end_ns,
        max(end_ns) OVER (
            PARTITION BY source_id, device_id ORDER BY start_ns, end_ns
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS reach_ns
    FROM device_interval
    WHERE run_id = $run_id AND work_class IN ('compute', 'communication')
),
busy AS (
    SELECT
        source_id, device_id,
        sum(greatest(end_ns - greatest(start_ns, coalesce(reach_ns, start_ns)), 0)) AS busy_ns
    FROM reached
    GROUP BY source_id, device_id
),
spans AS (
    SELECT source_id, start_ns, start_ns + dur_ns AS end_ns FROM slice WHERE run_id = $run_id
    UNION ALL SELECT source_id, start_ns, start_ns + dur_ns FROM step WHERE run_id = $run_id
    UNION ALL SELECT source_id, start_ns, end_ns FROM device_interval WHERE run_id = $run_id
),
windows AS (
    SELECT source_id, max(end_ns) - min(start_ns) AS window_ns
    FROM spans WHERE end_ns IS NOT NULL AND source_id IN (SELECT source_id FROM busy)
    GROUP BY source_id
),
devices AS (
    SELECT
        coalesce(work.source_id, busy.source_id) AS source_id,
        coalesce(work.device_id, busy.device_id) AS device_id,
        work.* EXCLUDE (source_id, device_id), busy.busy_ns AS union_ns
    FROM work
    FULL JOIN busy ON busy.source_id = work.source_id AND busy.device_id IS NOT DISTINCT FROM work.device_id
),
timed AS (
    SELECT
        devices.* EXCLUDE (union_ns, idle_ns), coalesce(devices.idle_ns, idles.idle_ns) AS idle_ns,
        machine.device_name, machine.model_name, machine.scope_kind, machine.ceiling_name, machine.peak_flop_per_s,
        machine.peak_bytes_per_s, machine.peak_basis,
        CASE WHEN windows.window_ns IS NOT NULL THEN 'timeline' WHEN coalesce(devices.idle_ns, idles.idle_ns) IS NOT NULL THEN 'operators' END AS window_basis,
        CASE window_basis WHEN 'timeline' THEN windows.window_ns WHEN 'operators' THEN coalesce(op_ns, 0) + coalesce(devices.idle_ns, idles.idle_ns) END AS window_ns,
        CASE window_basis WHEN 'timeline' THEN union_ns WHEN 'operators' THEN coalesce(op_ns, 0) END AS busy_ns
    FROM devices
    LEFT JOIN windows USING (source_id)
    LEFT JOIN idles USING (source_id)
    LEFT JOIN op_machine($run_id, $ceiling) AS machine
        ON machine.source_id = devices.source_id AND machine.device_id IS NOT DISTINCT FROM devices.device_id
),
boards AS (
    SELECT
        model_name AS board_name,
        any_value(value) FILTER (WHERE ceiling_kind = 'compute') AS board_flop_per_s,
        any_value(value) FILTER (WHERE ceiling_name = 'dram') AS board_bytes_per_s,
        any_value(ceiling_name) FILTER (WHERE ceiling_kind = 'compute') AS board_ceiling,
        string_agg(DISTINCT origin_kind, ', ' ORDER BY origin_kind DESC) AS board_basis
    FROM model_ceiling
    WHERE model_name GLOB 'TPU* board' AND ceiling_name IN ('tensor_bf16', 'dram')
    GROUP BY model_name
),
added AS (
    SELECT
        source_id,
        CASE WHEN $by = 'device' THEN device_id END AS place,
        CASE WHEN count(DISTINCT device_name) = 1 THEN any_value(device_name) END AS device_name,
        CASE WHEN bool_and(device_id IS NOT NULL) THEN count(*) END AS device_count,
        sum(busy_ns) AS busy_ns,
        CASE WHEN count(window_ns) = count(*) THEN sum(window_ns) END AS window_ns,
        any_value(window_basis) AS window_basis,
        sum(total_flop) AS total_flop, sum(total_bytes) AS total_bytes,
        sum(known_ns) AS known_ns, sum(op_ns) AS op_ns,
        CASE WHEN count(DISTINCT ceiling_name) = 1 THEN any_value(ceiling_name) END AS ceiling_name,
        CASE WHEN count(peak_flop_per_s) = count(*) THEN sum(peak_flop_per_s) END AS peak_flop_per_s,
        CASE WHEN count(peak_bytes_per_s) = count(*) THEN sum(peak_bytes_per_s) END AS peak_bytes_per_s,
        CASE WHEN count(DISTINCT peak_basis) = 1 THEN any_value(peak_basis) END AS peak_basis,
        CASE WHEN count(DISTINCT coalesce(scope_kind, 'reported')) = 1 THEN coalesce(any_value(scope_kind), CASE WHEN any_value(peak_basis) = 'reported' THEN 'reported' END) END AS scope_kind,
        CASE WHEN count(DISTINCT model_name) = 1 THEN any_value(model_name) END AS model_name
    FROM timed
    GROUP BY source_id, place
),
scoped AS (
    SELECT
        added.* EXCLUDE (peak_flop_per_s, peak_bytes_per_s, peak_basis, scope_kind, model_name),
        -- the board of the chips, unless the user says other of them
        $by = 'host' AND device_count IS NOT NULL AND boards.board_name IS NOT NULL AND ceiling_name = board_ceiling AND NOT contains(peak_basis, 'user') AS is_board,
        CASE WHEN is_board THEN board_flop_per_s ELSE peak_flop_per_s END AS peak_flop_per_s,
        CASE WHEN is_board THEN board_bytes_per_s ELSE peak_bytes_per_s END AS peak_bytes_per_s,
        CASE WHEN is_board THEN board_basis ELSE peak_basis END AS peak_basis,
        CASE
            WHEN is_board THEN board_name
            WHEN $by = 'host' AND device_count > 1 THEN device_count || ' x ' || coalesce(scope_kind, 'device')
            ELSE scope_kind
        END AS scope_name,
        CASE WHEN $by = 'host' AND device_count > 0 THEN ratio(window_ns, device_count) ELSE window_ns END AS elapsed_ns
    FROM added
    LEFT JOIN boards ON boards.board_name = added.model_name || ' board'
)
SELECT
    source_id, place AS device_id, device_name,
    ratio(busy_ns, window_ns) AS busy_ratio,
    ratio(total_flop * 1e9, peak_flop_per_s * elapsed_ns) AS flop_utilization_ratio,
    ratio(total_bytes * 1e9, peak_bytes_per_s * elapsed_ns) AS bandwidth_utilization_ratio,
    CAST(busy_ns AS BIGINT) AS busy_ns, CAST(window_ns AS BIGINT) AS window_ns, window_basis,
    total_flop, total_bytes, ratio(known_ns, op_ns) AS known_time_ratio, device_count,
    ceiling_name, peak_flop_per_s, peak_bytes_per_s, scope_name, peak_basis,
    CASE
        WHEN window_ns IS NULL THEN 'neither a timeline nor idle time'
        WHEN total_flop IS NULL THEN 'operations: not_collected'
        WHEN total_bytes IS NULL THEN 'bytes: not_collected'
        WHEN peak_flop_per_s IS NULL AND device_name IS NULL THEN 'device not known'
        WHEN peak_flop_per_s IS NULL THEN 'no peak for this device'
        WHEN peak_bytes_per_s IS NULL THEN 'no bandwidth for this device'
    END AS reason
FROM scoped
ORDER BY source_id, device_id NULLS FIRST

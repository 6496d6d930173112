-- purpose = "What each block of memory is for: the kinds of Zhu 2018, by when it is allocated and released."
-- source = "Zhu 2018 (TBD), sect. III (memory consumption) and Fig. 8; docs/metrics.md, section Memory by kind, has the rules"
-- needs = ["allocation"]
-- [parameters]
-- wanted_run = {type = "VARCHAR", doc = "run; NULL for all of them"}
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- source_id = {type = "VARCHAR", doc = "source"}
-- process_id = {type = "BIGINT", doc = "process whose allocator it is"}
-- device_kind = {type = "VARCHAR", doc = "cpu, cuda, hip, xpu …"}
-- device_id = {type = "BIGINT", doc = "device; NULL for the host's memory"}
-- event_id = {type = "BIGINT", doc = "the allocation; NULL where it is not in the file"}
-- release_event_id = {type = "BIGINT", doc = "the release; NULL where it is not in the file"}
-- size_bytes = {type = "BIGINT", doc = "bytes, as the allocator gave them: it rounds up"}
-- start_ns = {type = "BIGINT", doc = "allocation"}
-- end_ns = {type = "BIGINT", doc = "release; NULL where it is held to the end, or the allocation is not in the file"}
-- step_index = {type = "BIGINT", doc = "step it was allocated in"}
-- release_step_index = {type = "BIGINT", doc = "step it was released in"}
-- context_id = {type = "BIGINT", doc = "calling_context that allocated it"}
-- kind = {type = "VARCHAR", doc = "weights, weight_gradients, optimizer_state, feature_maps, workspace, temporary, input or other; NULL where it is not known"}
-- kind_basis = {type = "VARCHAR", doc = "what says so"}
-- kind_reason = {type = "VARCHAR", doc = "why kind is NULL"}
WITH
-- apart from the windows, which would have the files of every run read
chosen AS MATERIALIZED (FROM allocation WHERE wanted_run IS NULL OR run_id = wanted_run),
blocks AS NOT MATERIALIZED (
    SELECT
        *,
        nullif(phase_kind, 'data') AS made_in,
        release_event_id IS NULL AND dur_ns IS NULL AS is_held,
        release_pass_index = pass_index
            AND coalesce(nullif(release_phase_kind, 'data'), '') = coalesce(nullif(phase_kind, 'data'), '')
            AS is_same_pass,
        max(step_index) OVER (PARTITION BY run_id, source_id, process_id, device_kind, device_id) AS last_step_index
    FROM chosen
),
ruled AS NOT MATERIALIZED (
    SELECT
        *,
        CASE
            WHEN event_id IS NULL THEN NULL
            WHEN is_released_in_op THEN 'workspace'
            WHEN pass_index IS NULL THEN NULL
            WHEN is_same_pass THEN 'temporary'
            WHEN made_in = 'forward' THEN 'feature_maps'
            WHEN made_in = 'backward' THEN 'weight_gradients'
            WHEN made_in = 'optimizer' THEN 'optimizer_state'
            WHEN pass_index = 0 AND is_held THEN 'weights'
            WHEN next_phase_kind = 'forward' THEN 'input'
            ELSE 'other'
        END AS rule_kind,
        -- a loss can be held until the next step has one
        is_held AND last_step_index > step_index + 1 AS is_long_held
    FROM blocks
),
compared AS NOT MATERIALIZED (
    SELECT
        *,
        bool_or(rule_kind = 'weight_gradients')
            OVER (PARTITION BY run_id, source_id, process_id, device_kind, device_id) AS has_gradients,
        bool_or(rule_kind = 'weight_gradients' AND NOT is_held)
            OVER (PARTITION BY run_id, source_id, process_id, device_kind, device_id) AS releases_gradients,
        bool_or(rule_kind = 'weight_gradients')
            OVER (PARTITION BY run_id, source_id, process_id, device_kind, device_id, size_bytes) AS has_gradient_of_size
    FROM ruled
),
settled AS NOT MATERIALIZED (
    SELECT
        *,
        CASE
            WHEN rule_kind = 'weights' AND has_gradients AND NOT has_gradient_of_size THEN 'no gradient has its size'
            WHEN rule_kind = 'feature_maps' AND is_long_held THEN 'allocated in a forward pass, held beyond the next step'
            WHEN rule_kind = 'weight_gradients' AND is_long_held AND releases_gradients
                THEN 'allocated in a backward pass, held although gradients are released'
        END AS doubt
    FROM compared
)
SELECT
    run_id, source_id, process_id, device_kind, device_id, event_id, release_event_id, size_bytes,
    start_ns, start_ns + dur_ns AS end_ns, step_index, release_step_index, context_id,
    CASE WHEN doubt IS NULL THEN rule_kind ELSE 'other' END AS kind,
    CASE
        WHEN doubt IS NOT NULL THEN doubt
        WHEN rule_kind = 'workspace' THEN 'released in the operator that allocated it'
        WHEN rule_kind = 'temporary' AND made_in IS NULL THEN 'released before the next pass'
        WHEN rule_kind = 'temporary' THEN 'allocated and released in one ' || made_in || ' pass'
        WHEN rule_kind = 'feature_maps' AND release_phase_kind = 'backward' THEN 'allocated in a forward pass, released in a backward pass'
        WHEN rule_kind = 'feature_maps' THEN 'allocated in a forward pass, held when it ended'
        WHEN rule_kind = 'weight_gradients' THEN 'allocated in a backward pass, held when it ended'
        WHEN rule_kind = 'optimizer_state' THEN 'allocated by the optimizer, held when it ended'
        WHEN rule_kind = 'weights' AND has_gradients THEN 'held from before the first pass; a gradient has its size'
        WHEN rule_kind = 'weights' THEN 'held from before the first pass; no gradients to compare it with'
        WHEN rule_kind = 'input' THEN 'allocated before a forward pass, held into it'
        WHEN rule_kind = 'other' THEN 'allocated between passes, held into one'
    END AS kind_basis,
    CASE
        WHEN event_id IS NULL THEN 'its allocation is not in the file'
        WHEN rule_kind IS NULL THEN 'nothing says forward or backward in the source'
    END AS kind_reason
FROM settled

-- purpose = "Kind of each block of memory as in Zhu 2018, from the times of its allocation and
-- release."
-- source = "Zhu 2018 (TBD), sect. III (memory consumption) and Fig. 8; docs/metrics.md, section
-- Memory by kind, has the rules"
-- needs = ["allocation"]
-- parameters = "wanted_run"
-- columns = "run_id source_id process_id device_kind device_id-memory event_id release_event_id
-- size_bytes start_ns end_ns step_index release_step_index context_id kind kind_basis
-- kind_reason"
-- event_id = "allocation; NULL if not in the file"
-- release_event_id = "BIGINT: release; NULL if not in the file"
-- size_bytes = "BIGINT: bytes, as the allocator gave them: it rounds up"
-- start_ns = "allocation"
-- end_ns = "release; NULL if held to the end, or if the allocation is not in the file"
-- step_index = "step it was allocated in"
-- release_step_index = "BIGINT: step it was released in"
-- kind = "VARCHAR: weights, weight_gradients, optimizer_state, feature_maps, workspace,
-- temporary, input or other; NULL if unknown"
-- kind_basis = "VARCHAR: rule that determines the kind"
-- kind_reason = "VARCHAR: why kind is NULL"
with
    chosen as materialized(from allocation where wanted_run is null or run_id = wanted_run),
    ruled as not materialized(
        select
            *,
            nullif(phase_kind, 'data') as made_in,
            release_event_id is null and dur_ns is null as is_held,
            release_pass_index = pass_index
            and coalesce(nullif(release_phase_kind, 'data'), '')
            = coalesce(nullif(phase_kind, 'data'), '') as is_same_pass,
            case
                when event_id is null
                then null
                when is_released_in_op
                then 'workspace'
                when pass_index is null
                then null
                when is_same_pass
                then 'temporary'
                when made_in = 'forward'
                then 'feature_maps'
                when made_in = 'backward'
                then 'weight_gradients'
                when made_in = 'optimizer'
                then 'optimizer_state'
                when pass_index = 0 and is_held
                then 'weights'
                when next_phase_kind = 'forward'
                then 'input'
                else 'other'
            end as rule_kind
        from chosen
    ),
    -- groups in place of windows, which sort every row with all of its columns
    pools as (
        select
            run_id,
            source_id,
            process_id,
            device_kind,
            device_id,
            max(step_index) as last_step_index,
            bool_or(rule_kind = 'weight_gradients') as has_gradients,
            bool_or(rule_kind = 'weight_gradients' and not is_held) as releases_gradients
        from ruled
        group by run_id, source_id, process_id, device_kind, device_id
    ),
    gradients as (
        select distinct run_id, source_id, process_id, device_kind, device_id, size_bytes
        from ruled
        where rule_kind = 'weight_gradients'
    ),
    compared as not materialized(
        select
            ruled.*,
            pools.has_gradients,
            pools.releases_gradients,
            gradients.run_id is not null as has_gradient_of_size,
            -- a loss can be held until the next step has one
            is_held and pools.last_step_index > step_index + 1 as is_long_held
        from ruled
        join
            pools
            on pools.run_id = ruled.run_id
            and pools.source_id = ruled.source_id
            and pools.process_id is not distinct from ruled.process_id
            and pools.device_kind is not distinct from ruled.device_kind
            and pools.device_id is not distinct from ruled.device_id
        left join
            gradients
            on gradients.run_id = ruled.run_id
            and gradients.source_id = ruled.source_id
            and gradients.process_id is not distinct from ruled.process_id
            and gradients.device_kind is not distinct from ruled.device_kind
            and gradients.device_id is not distinct from ruled.device_id
            and gradients.size_bytes is not distinct from ruled.size_bytes
    ),
    settled as not materialized(
        select
            *,
            case
                when rule_kind = 'weights' and has_gradients and not has_gradient_of_size
                then 'no gradient has its size'
                when rule_kind = 'feature_maps' and is_long_held
                then 'allocated in a forward pass, held beyond the next step'
                when rule_kind = 'weight_gradients' and is_long_held and releases_gradients
                then 'allocated in a backward pass, held although gradients are released'
            end as doubt
        from compared
    )
select
    run_id,
    source_id,
    process_id,
    device_kind,
    device_id,
    event_id,
    release_event_id,
    size_bytes,
    start_ns,
    start_ns + dur_ns as end_ns,
    step_index,
    release_step_index,
    context_id,
    case when doubt is null then rule_kind else 'other' end as kind,
    case
        when doubt is not null
        then doubt
        when rule_kind = 'workspace'
        then 'released in the operator that allocated it'
        when rule_kind = 'temporary' and made_in is null
        then 'released before the next pass'
        when rule_kind = 'temporary'
        then 'allocated and released in one ' || made_in || ' pass'
        when rule_kind = 'feature_maps' and release_phase_kind = 'backward'
        then 'allocated in a forward pass, released in a backward pass'
        when rule_kind = 'feature_maps'
        then 'allocated in a forward pass, held when it ended'
        when rule_kind = 'weight_gradients'
        then 'allocated in a backward pass, held when it ended'
        when rule_kind = 'optimizer_state'
        then 'allocated by the optimizer, held when it ended'
        when rule_kind = 'weights' and has_gradients
        then 'held from before the first pass; a gradient has its size'
        when rule_kind = 'weights'
        then 'held from before the first pass; no gradients to compare it with'
        when rule_kind = 'input'
        then 'allocated before a forward pass, held into it'
        when rule_kind = 'other'
        then 'allocated between passes, held into one'
    end as kind_basis,
    case
        when event_id is null
        then 'its allocation is not in the file'
        when rule_kind is null
        then 'the source does not distinguish forward and backward'
    end as kind_reason
from settled

-- purpose = "Operators of a timeline in groups: time, share, calls, work (measured or modeled),
-- rates and bound; with a row for work without an operator."
-- source = "docs/metrics.md, section Operators of a timeline"
-- needs = ["attribution", "calling_context", "op_call"]
-- depends = ["attributed_op_work", "bound_of", "nearest_of", "one_or_mixed", "sum_where",
-- "usual_latency_ratio"]
-- parameters = "wanted_run wanted_phase grouping_kind wanted_depth wanted_provenance"
-- grouping_kind = "name, shape (name, argument types and shapes), family or module (full or
-- truncated path)"
-- wanted_provenance = "VARCHAR: measured, modelled or best, as of attributed_op_work"
-- columns = "run_id group_name input_dims input_types family_name is_operator total_ns-group
-- share_ratio basis call_count mean_ns-calls kernel_count kernel_ns copy_count host_ns total_flop
-- total_bytes known_ratio intensity_flop_per_byte achieved_flop_per_s achieved_bytes_per_s
-- utilization_ratio least_utilization_ratio fp32_utilization_ratio-counters bandwidth_ratio
-- roof_ratio-known bound_kind nearest_name ceiling_name provenance_kind work_reason reason"
-- group_name = "operator, family or module; NULL without an operator"
-- family_name = "family; if several, the one with the most time"
-- is_operator = "BOOLEAN: whether the time belongs to operators"
-- basis = "source of the times: kernels, host operators or mixed"
-- total_bytes = "known bytes: measured in device memory, or the modeled minimum"
-- ceiling_name = "compute peak; if several, the one with the most time"
-- reason = "why a value is NULL, or a range"
with
    pieces as (
        select
            *,
            case
                grouping_kind
                when 'family'
                then case when name is not null then coalesce(family_name, '(no model)') end
                when 'module'
                then
                    case
                        when wanted_depth is null
                        then module_path
                        when wanted_depth < 1
                        then error('depth must be 1 or more')
                        else array_to_string(string_split(module_path, '/')[1:wanted_depth], '/')
                    end
                else name
            end as group_name,
            case when grouping_kind = 'shape' then input_dims end as group_dims,
            case when grouping_kind = 'shape' then input_types end as group_types,
            coalesce(total_ns, 0) as weight_ns,
            is_known and compute_ns is not null and bandwidth_ns is not null as is_held
        from attributed_op_work(wanted_run, wanted_phase, wanted_provenance)
    ),
    grouped as (
        select
            run_id,
            group_name,
            group_dims,
            group_types,
            arg_min(family_name, (- weight_ns, family_name)) as family_name,
            bool_or(name is not null) as is_operator,
            sum(total_ns) as total_ns,
            case when min(basis) = max(basis) then min(basis) else 'mixed' end as basis,
            sum(call_count) as call_count,
            sum(total_ns) filter (where call_count is not null) as called_ns,
            sum(kernel_count) as kernel_count,
            sum(kernel_ns) as kernel_ns,
            sum(copy_count) as copy_count,
            sum(host_ns) as host_ns,
            sum(total_flop) as total_flop,
            sum(total_bytes) as total_bytes,
            sum_where(work_ns, is_known) as known_ns,
            sum(total_flop) filter (where is_known) as known_flop,
            sum(total_bytes) filter (where is_known) as known_bytes,
            sum(total_flop) filter (where work_ns > 0) as timed_flop,
            sum(work_ns) filter (where total_flop is not null) as flop_ns,
            sum(total_bytes) filter (where work_ns > 0) as timed_bytes,
            sum(work_ns) filter (where total_bytes is not null) as bytes_ns,
            ratio(
                sum(total_flop) filter (where work_ns > 0 and peak_flop_per_s is not null) * 1e9,
                sum(peak_flop_per_s * work_ns) filter (where total_flop is not null)
            ) as utilization_ratio,
            ratio(
                sum(total_flop) filter (where work_ns > 0 and peak_flop_per_s is not null) * 1e9,
                sum(highest_flop_per_s * work_ns) filter (where total_flop is not null)
            ) as least_utilization_ratio,
            ratio(
                sum(total_bytes) filter (where work_ns > 0 and peak_bytes_per_s is not null) * 1e9,
                sum(peak_bytes_per_s * work_ns) filter (where total_bytes is not null)
            ) as bandwidth_ratio,
            ratio(
                sum(greatest(compute_ns, bandwidth_ns)) filter (where is_held and work_ns > 0),
                sum(work_ns) filter (where is_held)
            ) as roof_ratio,
            sum(compute_ns) filter (where is_held) as compute_ns,
            sum(bandwidth_ns) filter (where is_held) as bandwidth_ns,
            arg_min(ceiling_name, (- weight_ns, ceiling_name)) as ceiling_name,
            arg_min(
                reason,
                (case when is_known then coalesce(work_ns, 0) else 0 end - weight_ns, reason)
            ) as work_reason,
            arg_min(peak_reason, (- weight_ns, ceiling_name, peak_reason)) as peak_reason,
            ratio(sum(fp32_flop) * 1e9, sum(fp32_roof)) as fp32_utilization_ratio,
            one_or_mixed(provenance_kind) as provenance_kind
        from pieces
        group by run_id, group_name, group_dims, group_types
    )
select
    run_id,
    group_name,
    group_dims as input_dims,
    group_types as input_types,
    family_name,
    is_operator,
    cast(total_ns as bigint) as total_ns,
    ratio(total_ns, sum(total_ns) over (partition by run_id)) as share_ratio,
    basis,
    cast(call_count as bigint) as call_count,
    ratio(called_ns, call_count) as mean_ns,
    cast(kernel_count as bigint) as kernel_count,
    cast(kernel_ns as bigint) as kernel_ns,
    cast(copy_count as bigint) as copy_count,
    cast(host_ns as bigint) as host_ns,
    total_flop,
    total_bytes,
    ratio(known_ns, total_ns) as known_ratio,
    case when known_flop > 0 then ratio(known_flop, known_bytes) end as intensity_flop_per_byte,
    ratio(timed_flop * 1e9, flop_ns) as achieved_flop_per_s,
    ratio(timed_bytes * 1e9, bytes_ns) as achieved_bytes_per_s,
    utilization_ratio,
    least_utilization_ratio,
    fp32_utilization_ratio,
    bandwidth_ratio,
    roof_ratio,
    case
        when known_flop > 0 or compute_ns > 0
        then bound_of(compute_ns, bandwidth_ns, null, roof_ratio, null, usual_latency_ratio())
    end as bound_kind,
    case
        when known_flop > 0 or compute_ns > 0 then nearest_of(compute_ns, bandwidth_ns, null, null)
    end as nearest_name,
    ceiling_name,
    provenance_kind,
    work_reason,
    nullif(
        concat_ws(
            '; ',
            work_reason,
            peak_reason,
            case
                when compute_ns + bandwidth_ns is not null and roof_ratio is null
                then 'duration unknown'
            end
        ),
        ''
    ) as reason
from grouped

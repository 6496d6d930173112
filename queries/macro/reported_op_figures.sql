-- purpose = "Operators in groups: time, work, intensity and bound, and the total shares of time
-- by bound."
-- source = "Wang Y. E. 2020 (ParaDnn), sect. 4.2 and the tables of Fig. 3; docs/metrics.md,
-- section Operators"
-- needs = ["op_stat"]
-- depends = ["reported_op_work_under", "roof_of", "first_reason", "whole_sum_where",
-- "one_or_mixed", "only_one", "sum_where"]
-- parameters = "wanted_run wanted_kind wanted_side grouping_kind scope_kind wanted_ceiling"
-- wanted_kind = "VARCHAR: hlo or framework, never both; NULL: hlo if the run has it on that side"
-- wanted_side = "VARCHAR: device or host; NULL: device if the run has device operators"
-- grouping_kind = "op (of a program), type, class, category, or run (all together)"
-- scope_kind = "VARCHAR: device, source (devices summed) or run (everything summed)"
-- columns = "run_id source_id-summed device_id-summed device_name-several op_kind group_name
-- program_name op_class-most class_rank category_name op_count occurrence_count total_ns-group
-- self_ns share_ratio-self known_count known_ns known_flop known_bytes compute_ns bandwidth_ns
-- zero_count zero_ns total_flop total_bytes bytes_basis intensity_flop_per_byte
-- achieved_flop_per_s achieved_bytes_per_s utilization_ratio least_utilization_ratio bound_kind
-- nearest_name roof_ratio reason reported_bound_name ceiling_name peak_flop_per_s
-- peak_bytes_per_s peak_basis memory_bound_ratio compute_bound_ratio zero_flop_ratio unknown_ratio"
-- group_name = "operator, type, class or category; NULL for a run"
-- op_count = "operators, counted per device"
-- known_count = "BIGINT: occurrence_count of the operators with known operations and bytes"
-- zero_count = "BIGINT: occurrence_count of known operators without operations"
-- reason = "why bound_kind is NULL or incomplete, or a range, for operators with work"
-- reported_bound_name = "bound, as the profiler reports it; if several, the one with the most time"
with
    both_sides as (
        from reported_op_work_under(wanted_run, wanted_ceiling)
        where (wanted_side is null or side_kind = wanted_side) and op_class <> 'idle'
    ),
    sides as (
        select
            run_id,
            case when bool_or(side_kind = 'device') then 'device' else 'host' end as side_kind
        from both_sides
        group by run_id
    ),
    ops as (from both_sides semi join sides using (run_id, side_kind)),
    kinds as (
        select
            run_id,
            coalesce(
                wanted_kind, case when bool_or(op_kind = 'hlo') then 'hlo' else 'framework' end
            ) as op_kind
        from ops
        group by run_id
    ),
    placed as (
        select
            ops.* exclude (program_name, category_name),
            case when scope_kind <> 'run' then ops.source_id end as scope_source,
            case when scope_kind = 'device' then ops.device_id end as scope_device,
            case
                grouping_kind
                when 'op'
                then name
                when 'type'
                then coalesce(type_name, category_name)
                when 'class'
                then op_class
                when 'run'
                then null
                else coalesce(category_name, type_name)
            end as group_name,
            case when grouping_kind = 'op' then program_name end as program_name,
            case when grouping_kind = 'op' then category_name end as category_name,
            total_flop is not null and total_bytes is not null as is_known,
            case
                when bound_reason not in ('no operations', 'duration of zero') then bound_reason
            end as lacking
        from ops
        join kinds on kinds.run_id = ops.run_id and kinds.op_kind = ops.op_kind
    ),
    grouped as (
        select
            run_id,
            scope_source,
            scope_device,
            group_name,
            program_name,
            only_one(device_name) as device_name,
            any_value(op_kind) as op_kind,
            arg_min(op_class, (- coalesce(self_ns, 0), class_rank)) as op_class,
            arg_min(class_rank, (- coalesce(self_ns, 0), class_rank)) as class_rank,
            min(category_name) as category_name,
            count(*) as op_count,
            cast(sum(coalesce(occurrence_count, 1)) as bigint) as occurrence_count,
            cast(sum(dur_ns) as bigint) as total_ns,
            cast(sum(self_ns) as bigint) as self_ns,
            sum_where(coalesce(occurrence_count, 1), is_known) as known_count,
            cast(sum(dur_ns) filter (where is_known) as bigint) as known_ns,
            sum(total_flop) filter (where is_known) as known_flop,
            sum(total_bytes) filter (where is_known) as known_bytes,
            whole_sum_where(compute_ns, is_known) as compute_ns,
            whole_sum_where(bandwidth_ns, is_known) as bandwidth_ns,
            -- what is above a peak is wrong, and in no share
            ratio(
                greatest(
                    whole_sum_where(compute_ns, is_known and not is_impossible),
                    whole_sum_where(bandwidth_ns, is_known and not is_impossible)
                ),
                sum(dur_ns) filter (where is_known and not is_impossible)
            ) as roof_ratio,
            sum_where(coalesce(occurrence_count, 1), is_known and total_flop = 0) as zero_count,
            sum_where(dur_ns, is_known and total_flop = 0) as zero_ns,
            sum(total_flop) as total_flop,
            sum(total_bytes) as total_bytes,
            one_or_mixed(bytes_basis) as bytes_basis,
            ratio(
                sum(total_flop) filter (where dur_ns > 0) * 1e9,
                sum(dur_ns) filter (where total_flop is not null)
            ) as achieved_flop_per_s,
            ratio(
                sum(total_bytes) filter (where dur_ns > 0) * 1e9,
                sum(dur_ns) filter (where total_bytes is not null)
            ) as achieved_bytes_per_s,
            ratio(
                sum(total_flop) filter (where utilization_ratio is not null) * 1e9,
                sum(peak_flop_per_s * dur_ns) filter (where utilization_ratio is not null)
            ) as utilization_ratio,
            ratio(
                sum(total_flop) filter (where utilization_ratio is not null) * 1e9,
                sum(highest_flop_per_s * dur_ns) filter (where utilization_ratio is not null)
            ) as least_utilization_ratio,
            first_reason(lacking, 'operators') as lacking,
            arg_min(peak_reason, (- coalesce(self_ns, 0), peak_reason)) filter (
                where peak_reason is not null and is_known and not is_impossible
            ) as peak_reason,
            arg_min(
                reported_bound_name, (- coalesce(self_ns, 0), reported_bound_name)
            ) as reported_bound_name,
            arg_min(ceiling_name, (- coalesce(self_ns, 0), ceiling_name)) as ceiling_name,
            max(peak_flop_per_s) as peak_flop_per_s,
            max(peak_bytes_per_s) as peak_bytes_per_s,
            arg_min(peak_basis, (- coalesce(self_ns, 0), peak_basis)) as peak_basis,
            sum(self_ns) filter (where nearest_name = 'dram') as memory_bound_ns,
            sum(self_ns) filter (where nearest_name = 'compute') as compute_bound_ns,
            sum(self_ns) filter (where total_flop = 0) as zero_flop_ns
        from placed
        group by run_id, scope_source, scope_device, group_name, program_name
    ),
    wholes as (
        select
            *,
            roof_of(compute_ns, bandwidth_ns, null, null, null, known_ns, null, null) as roof,
            sum(self_ns) over whole as whole_ns,
            coalesce(sum(memory_bound_ns) over whole, 0) as all_memory_ns,
            coalesce(sum(compute_bound_ns) over whole, 0) as all_compute_ns,
            coalesce(sum(zero_flop_ns) over whole, 0) as all_zero_ns
        from grouped
        window whole as (partition by run_id, scope_source, scope_device)
    )
select
    run_id,
    scope_source as source_id,
    scope_device as device_id,
    device_name,
    op_kind,
    group_name,
    program_name,
    op_class,
    class_rank,
    category_name,
    op_count,
    occurrence_count,
    total_ns,
    self_ns,
    ratio(self_ns, whole_ns) as share_ratio,
    known_count,
    known_ns,
    known_flop,
    known_bytes,
    compute_ns,
    bandwidth_ns,
    zero_count,
    zero_ns,
    total_flop,
    total_bytes,
    bytes_basis,
    case when known_flop > 0 then ratio(known_flop, known_bytes) end as intensity_flop_per_byte,
    achieved_flop_per_s,
    achieved_bytes_per_s,
    utilization_ratio,
    least_utilization_ratio,
    case when known_flop > 0 then roof['bound_kind'] end as bound_kind,
    case when known_flop > 0 then roof['nearest_name'] end as nearest_name,
    case when known_flop > 0 then roof_ratio end as roof_ratio,
    case
        when lacking is null and coalesce(known_flop, 0) = 0
        then 'no operations'
        when lacking is null and known_ns = 0
        then 'duration of zero'
        else coalesce(lacking, peak_reason)
    end as reason,
    reported_bound_name,
    ceiling_name,
    peak_flop_per_s,
    peak_bytes_per_s,
    peak_basis,
    ratio(all_memory_ns, whole_ns) as memory_bound_ratio,
    ratio(all_compute_ns, whole_ns) as compute_bound_ratio,
    ratio(all_zero_ns, whole_ns) as zero_flop_ratio,
    ratio(whole_ns - all_memory_ns - all_compute_ns - all_zero_ns, whole_ns) as unknown_ratio
from wholes

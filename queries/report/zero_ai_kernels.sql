-- purpose = "Kernels without floating-point work, measured or unknown (with the reason), and
-- their share of launches, time and traffic."
-- source = "Wang Y. 2020 (Time-Based Roofline), sect. II and IV: zero-AI kernels"
-- topic = "kernels"
-- needs = ["kernel_counter"]
-- depends = ["grouped_launch"]
-- parameters = "run_id-all phase-counted by label fp16_convention"
-- columns = "name-group zero_ai_kind is_zero_ai launch_count launch_share_ratio total_ns
-- time_share_ratio fp16_flop dram_bytes reason missing_metrics-launches fp16_convention
-- launch_index-launch event_id-launch"
-- answer = "is_zero_ai total_ns time_share_ratio"
-- zero_ai_kind = "VARCHAR: measured_zero; integer (only integer tensor operations); moves or
-- conversions (only FP16 instructions without work); none: all kernels of this run or label value
-- have work; if unknown: not_collected, not_available (on
-- this device), no_value (the launch failed) or named_copy (a copy or integer kernel by its
-- function)"
-- is_zero_ai = "BOOLEAN: true if measured; NULL if unknown; false in a row for none"
-- launch_share_ratio = "DOUBLE: share of all launches with counters, by run or label of the group"
-- time_share_ratio = "DOUBLE: share of the time of all launches, by run or label of the group"
-- fp16_flop = "FP16 operations of moves and conversions, counted only by the packed convention"
-- dram_bytes = "DOUBLE: bytes to and from device memory"
with
    chosen as (
        select
            *,
            case
                when all_flop > 0 or known_flop > 0
                then 'has_work'
                when all_flop = 0 and tensor_int_flop > 0
                then 'integer'
                when all_flop = 0
                then coalesce(fp16_kind, 'measured_zero')
                when
                    regexp_matches(
                        kernel_function(name),
                        '(?i)memcpy|memset|copy|transpose|permute|gather|scatter|concat|index'
                        || '|sort|scan|hash|fill'
                    )
                then 'named_copy'
                when total_reason like '%not_available'
                then 'not_available'
                when total_reason like '%nan'
                then 'no_value'
                else 'not_collected'
            end as zero_ai_kind
        from grouped_launch($run_id, $phase, $by, $label, 'fp32', $fp16_convention)
    ),
    grouped as (
        select
            group_name,
            owner_id,
            launch_event,
            zero_ai_kind,
            cast(sum(launch_count) as bigint) as launch_count,
            cast(sum(dur_ns) as bigint) as total_ns,
            cast(sum(fp16_packed_flop) as double) as fp16_flop,
            cast(sum(dram_bytes) as double) as dram_bytes,
            arg_min(missing_metrics, (- coalesce(dur_ns, 0), missing_metrics)) as missing_metrics,
            coalesce(
                arg_min(total_reason, (- coalesce(dur_ns, 0), total_reason)),
                case when sum(dur_ns) is null then 'duration unknown' end
            ) as reason,
            case when $by = 'launch' then any_value(launch_index) end as launch_index,
            any_value(group_number) as group_number
        from chosen
        group by group_name, owner_id, launch_event, zero_ai_kind
    ),
    shared as (
        select
            *,
            ratio(launch_count, sum(launch_count) over whole) as launch_share_ratio,
            ratio(total_ns, sum(total_ns) over whole) as time_share_ratio
        from grouped
        -- of names and launches, of all of them
        window
            whole as (
                partition by
                    case when $by in ('run', 'label') then group_name end,
                    case when $by = 'run' then owner_id end
            )
        union all by name
        -- a run or label value without any has a row, too
        select
            group_name,
            owner_id,
            'none' as zero_ai_kind,
            0 as launch_count,
            0 as total_ns,
            0.0 as launch_share_ratio,
            0.0 as time_share_ratio,
            any_value(group_number) as group_number
        from grouped
        where $by in ('run', 'label')
        group by group_name, owner_id
        having bool_and(zero_ai_kind = 'has_work')
    )
select
    group_name as name,
    zero_ai_kind,
    case
        when zero_ai_kind in ('measured_zero', 'integer', 'moves', 'conversions')
        then true
        when zero_ai_kind = 'none'
        then false
    end as is_zero_ai,
    launch_count,
    launch_share_ratio,
    total_ns,
    time_share_ratio,
    fp16_flop,
    dram_bytes,
    reason,
    missing_metrics,
    cast($fp16_convention as varchar) as fp16_convention,
    launch_index,
    launch_event as event_id
from shared
where zero_ai_kind <> 'has_work'
order by
    group_number,
    total_ns desc nulls last,
    launch_count desc,
    name,
    zero_ai_kind,
    owner_id,
    launch_event

-- purpose = "Ceilings of a roofline: device peaks of a run, with the work under each."
-- source = "Wang Y. 2020 (Time-Based Roofline), sect. II and III.B; the figures by their own
-- sources"
-- topic = "rooflines"
-- needs = ["kernel_counter"]
-- depends = ["work_under", "step_launch", "device_ceiling", "ceiling_figures"]
-- parameters = "run_id-all phase-counted fp16_convention"
-- columns = "run_id device_name ceiling_kind-launches ceiling_name-roof peak_flop_per_s
-- peak_bytes_per_s-ceiling overhead_ns work_flop work_bytes origin_kind source_text total_ns"
-- peak_flop_per_s = "for compute: operations; the largest over devices of one name and launches
-- of a report; NULL if work has no known peak"
-- overhead_ns = "for launch_overhead: one launch"
-- origin_kind = "user, datasheet, computed or measured; report: peak_sustained x clock of the
-- launches"
-- total_ns = "sum of the durations on that device"
with
    kinds as (
        select
            run_id,
            source_id,
            device_id,
            device_name,
            dur_ns,
            unnest(
                [
                    {'ceiling_name':'fp64', 'work':fp64_flop, 'own':own_fp64_flop_per_s},
                    {'ceiling_name':'fp32', 'work':fp32_flop, 'own':own_fp32_flop_per_s},
                    {'ceiling_name':'fp16', 'own':own_fp16_flop_per_s, 'work':fp16_flop},
                    {
                        'ceiling_name':'tensor_fp64',
                        'work':tensor_fp64_flop,
                        'own':own_tensor_fp64_flop_per_s
                    },
                    {
                        'ceiling_name':'tensor_tf32',
                        'work':tensor_tf32_flop,
                        'own':own_tensor_tf32_flop_per_s
                    },
                    {
                        'ceiling_name':'tensor_bf16',
                        'work':tensor_bf16_flop,
                        'own':own_tensor_bf16_flop_per_s
                    },
                    {
                        'ceiling_name':'tensor_fp16',
                        'work':tensor_fp16_flop,
                        'own':own_tensor_fp16_flop_per_s
                    },
                    {
                        'ceiling_name':'tensor_fp8',
                        'work':tensor_fp8_flop,
                        'own':own_tensor_fp8_flop_per_s
                    },
                    {
                        'ceiling_name':'tensor_fp4',
                        'work':tensor_fp4_flop,
                        'own':own_tensor_fp4_flop_per_s
                    },
                    {
                        'ceiling_name':'tensor_int8',
                        'work':nullif(tensor_int_flop, 0),
                        'own':own_tensor_int8_flop_per_s
                    },
                    {'ceiling_name':'dram', 'work':dram_bytes, 'own':own_dram_bytes_per_s},
                    {
                        'ceiling_name':'l2',
                        'work':coalesce(l2_paper_bytes, l2_vendor_bytes),
                        'own': case
                            when l2_paper_bytes is not null
                            then own_l2_paper_bytes_per_s
                            else own_l2_vendor_bytes_per_s
                        end
                    },
                    {
                        'ceiling_name':'l1',
                        'work':coalesce(l1_paper_bytes, l1_vendor_bytes),
                        'own': case
                            when l1_paper_bytes is not null
                            then own_l1_paper_bytes_per_s
                            else own_l1_vendor_bytes_per_s
                        end
                    }
                ],
                recursive := true
            )
        from work_under('fp32', $fp16_convention)
        where
            ($run_id is null or run_id = $run_id)
            and (
                $phase = 'all'
                or (run_id, source_id, event_id)
                in (select (run_id, source_id, event_id) from step_launch($run_id, $phase))
            )
    ),
    worked as (
        select
            run_id,
            source_id,
            device_id,
            ceiling_name,
            any_value(device_name) as device_name,
            cast(sum(work) as double) as work,
            max(own) as own,
            sum(dur_ns) as total_ns
        from kinds
        group by run_id, source_id, device_id, ceiling_name
    ),
    devices as (
        select
            run_id,
            source_id,
            device_id,
            any_value(device_name) as device_name,
            max(total_ns) as total_ns
        from worked
        group by run_id, source_id, device_id
    ),
    known as (
        select
            devices.run_id,
            devices.source_id,
            devices.device_id,
            devices.device_name,
            devices.total_ns,
            device_ceiling.ceiling_kind,
            device_ceiling.ceiling_name,
            device_ceiling.value,
            device_ceiling.origin_kind,
            device_ceiling.source_text
        from devices
        join
            device_ceiling
            on device_ceiling.run_id = devices.run_id
            and device_ceiling.source_id = devices.source_id
            and device_ceiling.device_id is not distinct from devices.device_id
            and ($run_id is null or device_ceiling.run_id = $run_id)
    ),
    offered as (
        select known.* exclude (source_id, device_id), worked.work
        from known
        left join
            worked
            on worked.run_id = known.run_id
            and worked.source_id = known.source_id
            and worked.device_id is not distinct from known.device_id
            and worked.ceiling_name = known.ceiling_name
        union all by name
        -- what the report says of its launches, where nobody says more of the device
        select
            worked.run_id,
            worked.device_name,
            worked.total_ns,
            case
                when worked.ceiling_name in ('dram', 'l2', 'l1') then 'bandwidth' else 'compute'
            end as ceiling_kind,
            worked.ceiling_name,
            worked.own as value,
            case when worked.own is not null then 'report' end as origin_kind,
            case
                when worked.own is not null then 'the report: peak_sustained x clock'
            end as source_text,
            worked.work
        from worked
        left join
            known
            on known.run_id = worked.run_id
            and known.source_id = worked.source_id
            and known.device_id is not distinct from worked.device_id
            and known.ceiling_name = worked.ceiling_name
        where known.ceiling_name is null and (worked.own is not null or worked.work > 0)
    )
select
    run_id,
    device_name,
    ceiling_kind,
    ceiling_name,
    unnest(
        ceiling_figures(
            ceiling_kind,
            value
            * case when ceiling_name = 'fp16' and $fp16_convention = 'scalar' then 0.5 else 1 end,
            work,
            origin_kind,
            source_text,
            total_ns
        )
    )
from offered
group by run_id, device_name, ceiling_kind, ceiling_name
order by
    run_id,
    max(sum(total_ns)) over (partition by run_id, device_name) desc nulls last,
    device_name,
    list_position(['compute', 'bandwidth', 'launch_overhead'], ceiling_kind),
    max(value) desc nulls last,
    ceiling_name

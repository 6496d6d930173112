-- purpose = "Ceilings of a processor roofline: peaks of the processors of a run, with the work
-- under each."
-- source = "Javed 2019, sect. 4.1 and 5.1 (Peak FLOPS 256, Peak FLOPS 512, STREAM); the figures
-- by their own sources"
-- topic = "rooflines"
-- needs = ["measurement"]
-- answered_if = "exists (from device_ceiling where run_id = $run_id and device_id is null) or
-- exists (from event_quantity($run_id, 'measurement', false) where quantity_kind = 'flop' and
-- quantity > 0) or exists (from counter_figures($run_id, 'measurement') where dram_bytes > 0)"
-- depends = ["cpu_known", "device_ceiling", "counter_figures", "event_quantity", "width_ceiling",
-- "ceiling_figures"]
-- parameters = "run_id-all"
-- columns = "run_id device_name-cpu ceiling_kind ceiling_name-roof peak_flop_per_s
-- peak_bytes_per_s-ceiling overhead_ns work_flop work_bytes origin_kind-known source_text
-- total_ns"
-- peak_flop_per_s = "for compute: operations; NULL if work has no known peak"
-- overhead_ns = "NULL: processors launch no kernels"
-- total_ns = "elapsed time of all files"
with
    offered as (
        select run_id, source_id, ceiling_kind, ceiling_name, value, origin_kind, source_text
        from device_ceiling
        where
            device_id is null
            and ceiling_kind in ('compute', 'bandwidth')
            and ($run_id is null or run_id = $run_id)
    ),
    named as (
        select run_id, source_id, list(ceiling_name) as names
        from offered
        group by run_id, source_id
    ),
    worked as (
        select
            events.run_id,
            events.source_id,
            'compute' as ceiling_kind,
            coalesce(
                width_ceiling(events.precision_name, events.width_name, names),
                events.precision_name
            ) as ceiling_name,
            sum(events.quantity) as work
        from event_quantity($run_id, 'measurement', false) as events
        left join named using (run_id, source_id)
        where events.quantity_kind = 'flop' and events.precision_name in ('fp64', 'fp32', 'fp16')
        group by all
        union all by name
        select
            run_id,
            source_id,
            'bandwidth' as ceiling_kind,
            'dram' as ceiling_name,
            sum(dram_bytes) as work
        from counter_figures($run_id, 'measurement')
        group by run_id, source_id
    ),
    added as (
        select run_id, source_id, ceiling_kind, ceiling_name, sum(work) as work
        from worked
        group by run_id, source_id, ceiling_kind, ceiling_name
    ),
    times as (
        select run_id, source_id, sum(dur_ns) as total_ns
        from measurement
        where $run_id is null or run_id = $run_id
        group by run_id, source_id
    ),
    every as (
        select
            run_id,
            source_id,
            ceiling_kind,
            ceiling_name,
            offered.value,
            offered.origin_kind,
            offered.source_text,
            added.work
        from offered
        full join added using (run_id, source_id, ceiling_kind, ceiling_name)
        where offered.value is not null or added.work > 0
    )
select
    every.run_id,
    cpu_known.device_name,
    ceiling_kind,
    ceiling_name,
    unnest(ceiling_figures(ceiling_kind, value, work, origin_kind, source_text, times.total_ns))
from every
join
    (from cpu_known where $run_id is null or run_id = $run_id) as cpu_known using (
        run_id, source_id
    )
left join times using (run_id, source_id)
group by every.run_id, cpu_known.device_name, ceiling_kind, ceiling_name
order by
    every.run_id, cpu_known.device_name, ceiling_kind desc, max(value) desc nulls last, ceiling_name

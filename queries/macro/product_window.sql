-- purpose = "Matrix products and convolutions that do not run on tensor cores, by name, with the
-- operations of their operators; only work that starts in some steps."
-- source = "names of kernels; operations as modeled from shapes"
-- needs = ["attribution"]
-- depends = ["work_in_window", "is_fp32_product", "is_fp16_product", "work_by_context"]
-- parameters = "wanted_run-one wanted_phase"
-- columns = "source_id device_id name unit_name dur_ns elapsed_ns-steps flop_count accessed_bytes"
-- unit_name = "VARCHAR: units of the kernel: fp32 or fp16"
-- dur_ns = "BIGINT: end - start"
-- flop_count = "BIGINT: operations of its operator; of several kernels of a call, the longest has
-- them, the others 0; NULL if unknown"
-- accessed_bytes = "BIGINT: minimum bytes of its operator, likewise"
with
    names as (
        select
            name,
            case
                when is_fp32_product(name) then 'fp32' when is_fp16_product(name) then 'fp16'
            end as unit_name
        from
            (
                select distinct name
                from attribution
                where run_id = wanted_run and work_kind = 'kernel'
            )
        where unit_name is not null
    ),
    products as (
        select
            work.source_id,
            work.device_id,
            work.name,
            names.unit_name,
            work.end_ns - work.start_ns as dur_ns,
            work.elapsed_ns,
            modeled.flop_count,
            modeled.accessed_bytes,
            row_number() over (
                partition by work.source_id, attribution.op_event_id
                order by work.end_ns - work.start_ns desc, work.event_id
            )
            = 1 as is_longest
        from work_in_window(wanted_run, wanted_phase) as work
        join names on names.name = work.name
        join
            attribution
            on attribution.run_id = wanted_run
            and attribution.source_id = work.source_id
            and attribution.event_id = work.event_id
        left join
            work_by_context(wanted_run) as modeled
            on modeled.source_id = work.source_id
            and modeled.context_id = attribution.context_id
        where work.is_of_steps
    )
select
    source_id,
    device_id,
    name,
    unit_name,
    dur_ns,
    elapsed_ns,
    case when is_longest then flop_count else flop_count * 0 end as flop_count,
    case when is_longest then accessed_bytes else accessed_bytes * 0 end as accessed_bytes
from products

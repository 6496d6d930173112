-- purpose = "Device work that is alike in name, operator and context, summed: as stored, else from
-- each work."
-- source = "tables work_sum, attribution and kernel"
-- needs = ["attribution"]
-- depends = ["summed_source", "classified_kernel"]
-- columns = "run_id source_id device_id work_kind name collective_name category_name-kernel op_name
-- context_id is_timed work_count dur_ns"
-- op_name = "attribution.op_name"
-- context_id = "BIGINT: attribution.context_id"
-- is_timed = "BOOLEAN: start and duration are known"
-- work_count = "BIGINT: kernels, copies or sets"
-- dur_ns = "sum of their durations; NULL if none is known"
select
    run_id,
    source_id,
    device_id,
    work_kind,
    name,
    collective_name,
    category_name,
    op_name,
    context_id,
    is_timed,
    work_count,
    dur_ns
from work_sum
union all
select
    work.run_id,
    work.source_id,
    work.device_id,
    work.work_kind,
    work.name,
    said.collective_name,
    said.category_name,
    work.op_name,
    work.context_id,
    work.start_ns is not null and work.dur_ns is not null as is_timed,
    count(*) as work_count,
    cast(sum(work.dur_ns) as bigint) as dur_ns
from
    (
        from attribution semi join (from summed_source where not has_sums) using (run_id, source_id)
    ) as work
left join
    classified_kernel as said
    on said.run_id = work.run_id
    and said.source_id = work.source_id
    and said.event_id = work.event_id
group by all

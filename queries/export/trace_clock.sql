-- purpose = "Clocks of the timelines of a run in a trace, and what the file says beside its
-- events."
-- source = "docs/export.md, sections Perfetto and Clocks"
-- needs = ["source_file"]
-- depends = ["source_clock", "trace_source"]
-- parameters = "run_id phase"
-- columns = "source_id rank_index clock_basis shared_count zero_time_ns metadata_json"
-- metadata_json = "VARCHAR: source_file.metadata_json; NULL but for the first timeline, or the
-- only one"
select
    source_id,
    clocks.rank_index,
    clock_basis,
    shared_count,
    zero_time_ns,
    case when clocks.source_index = 0 then metadata_json end as metadata_json
from source_clock($run_id, $phase) as clocks
join trace_source($run_id, $phase) as source using (source_id)
join source_file using (source_id)
where source_file.run_id = $run_id
order by clocks.source_index

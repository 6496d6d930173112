-- purpose = "Pages of a profiler report in each source: a launch can be on several."
-- source = "table source_file"
-- needs = ["source_file"]
-- columns = "run_id source_id page_count page_kind"
-- page_count = "BIGINT: pages in the source; 1 if the file has none"
select
    run_id,
    source_id,
    cast(
        greatest(coalesce(json_array_length(metadata_json, '$.pages'), 1), 1) as bigint
    ) as page_count,
    case when page_count = 1 then metadata_json ->> '$.pages[0]' end as page_kind
from source_file

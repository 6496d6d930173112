-- purpose = "Sources with counters of launches; a summary only if no page has single launches."
-- source = "table source_file, view report_page"
-- needs = ["source_file"]
-- depends = ["report_page"]
-- columns = "run_id source_id page_kind is_shared"
select run_id, source_id, page_kind, sum(page_count) over (partition by run_id) > 1 as is_shared
from stored_table
join report_page using (run_id, source_id)
where table_name = 'kernel_counter'
-- the launches of a summary may be those of the page
qualify
    page_kind is distinct from 'summary'
    or bool_and(page_kind is not distinct from 'summary') over (partition by run_id)

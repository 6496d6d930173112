-- purpose = "Values of the only table of results of a run, that has no labels but its own."
from configuration_value
join
    (from configuration where run_id = $run_id) as configuration using (run_id, source_id, event_id)
where
    run_id = $run_id
    and not exists (from run_label where run_id = $run_id)
    and (select count(distinct source_id) from configuration where run_id = $run_id) = 1

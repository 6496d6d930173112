-- purpose = "The rank of each device of each source: that of the file, else the one that the events of the device tell, in a file that several ranks were merged into."
-- source = "tables source_file and device; docs/metrics.md, section Many ranks"
-- needs = ["source_file"]
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- source_id = {type = "VARCHAR", doc = "source"}
-- device_id = {type = "BIGINT", doc = "device; NULL: work that is of none that the file names"}
-- rank_index = {type = "BIGINT", doc = "rank; NULL where neither says, or the device is one of several ranks"}
SELECT run_id, source_id, seen.device_id, coalesce(source_file.rank_index, told.rank_index) AS rank_index
FROM (
    SELECT run_id, source_id, device_id FROM attribution
    UNION SELECT run_id, source_id, device_id FROM kernel
    UNION SELECT run_id, source_id, device_id FROM device
    UNION SELECT run_id, source_id, NULL FROM source_file
) AS seen
JOIN source_file USING (run_id, source_id)
LEFT JOIN (
    SELECT run_id, source_id, device_id, any_value(rank_index) AS rank_index
    FROM device
    GROUP BY run_id, source_id, device_id
) AS told
    USING (run_id, source_id, device_id)

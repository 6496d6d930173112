-- purpose = "Sources with only samples of the memory events: totals count, blocks are unknown."
-- source = "XProf, SampleMemoryProfileTimeline: of more than 1,000 snapshots the largest of each
-- stretch; docs/metrics.md, section Memory by kind"
-- needs = ["ingest_issue"]
-- columns = "run_id source_id"
select distinct run_id, source_id from ingest_issue where code = 'sampled_events'

-- purpose = "Time of devices in which communication runs and no compute hides it."
-- source = "docs/metrics.md, section overlap; HTA's overlap of communication and computation"
-- needs = ["attribution"]
-- depends = ["device_time"]
-- parameters = "run_id phase"
-- columns = "win_ns communication_ns hidden_ratio kernel_count elapsed_ns source_id-rank device_id"
-- communication_ns = "BIGINT: time with communication"
-- hidden_ratio = "DOUBLE: share of it beside compute"
-- finding.title = "Communication is not hidden by compute"
-- finding.evidence = "{kernel_count:kernel} of communication run for {communication_ns},
-- {hidden_ratio} of it beside compute; waits for other ranks are part of it"
-- finding.action = "Start it earlier and overlap it with the backward pass (buckets, FSDP
-- prefetch); send less; see first whether it waits for a rank."
-- finding.command = "query collectives"
-- finding.pool = "communication"
select
    exposed_ns as win_ns,
    union_ns as communication_ns,
    ratio(union_ns - exposed_ns, union_ns) as hidden_ratio,
    work_count as kernel_count,
    elapsed_ns,
    source_id,
    device_id
from device_time($run_id, $phase)
where work_class = 'communication' and exposed_ns > 0
order by win_ns desc, source_id, device_id

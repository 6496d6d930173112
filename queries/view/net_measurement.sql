-- purpose = "Nets of logs of caffe time, and which of them are one net, measured several times."
-- source = "docs/metrics.md, section Layers"
-- needs = ["layer_stat"]
-- columns = "run_id source_id net_index measured_net_index measurement_count"
-- measured_net_index = "BIGINT: the first net of the log with this name and these layers"
-- measurement_count = "BIGINT: nets of the log with this name and these layers"
select
    run_id,
    source_id,
    net_index,
    min(net_index) over alike as measured_net_index,
    count(*) over alike as measurement_count
from
    (
        select
            run_id,
            source_id,
            net_index,
            min(net_name) as net_name,
            list_sort(list(distinct(name, phase_kind)) filter (where name is not null)) as layers
        from layer_stat
        group by run_id, source_id, net_index
    )
window alike as (partition by run_id, source_id, net_name, layers)

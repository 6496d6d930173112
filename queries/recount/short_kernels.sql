-- purpose = "Kernels by duration are those of the rows."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "short_kernels"
-- keys = ["duration_class"]
-- needs = ["attribution"]
select
    case
        when dur_ns < 2000
        then '0 µs to 2 µs'
        when dur_ns < 5000
        then '2 µs to 5 µs'
        when dur_ns < 10000
        then '5 µs to 10 µs'
        when dur_ns < 20000
        then '10 µs to 20 µs'
        when dur_ns < 50000
        then '20 µs to 50 µs'
        when dur_ns < 100000
        then '50 µs to 100 µs'
        when dur_ns < 1000000
        then '100 µs to 1 ms'
        else '1 ms and more'
    end as duration_class,
    count(*) as launch_count,
    sum(dur_ns) as total_ns,
    count(distinct name) as kernel_count
from attribution
where run_id = $run_id and work_kind = 'kernel' and start_ns is not null and dur_ns is not null
group by duration_class

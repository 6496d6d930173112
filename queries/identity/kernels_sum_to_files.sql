-- purpose = "The times of the kernels sum to those of the files."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["kernel_time", "run_summary"]
select
    'all kernels' as subject,
    'kernel_time.total_ns, summed' as first_figure,
    kernels.ns as first_value,
    'run_summary.kernel_ns, summed' as second_figure,
    files.ns as second_value
from
    phase_asked,
    (select sum(total_ns) as ns from kernel_time) as kernels,
    (
        -- beside a timeline, files of counters have launches of their own
        select sum(kernel_ns) as ns
        from run_summary
        where elapsed_ns is not null or not exists (from run_summary where elapsed_ns is not null)
    ) as files
where phase = 'all' and differs(kernels.ns, files.ns)

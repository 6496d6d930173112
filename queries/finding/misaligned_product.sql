-- purpose = "Time of 16-bit matrix products above the roof if K or N is not a multiple of eight."
-- source = "NVIDIA, Matrix Multiplication Background: tensor cores are used best if M, N and K are
-- multiples of 16 bytes; docs/metrics.md, section Findings"
-- needs = ["op_call", "attribution", "calling_context"]
-- depends = ["attributed_op_work", "step_window", "whole_ns"]
-- parameters = "run_id phase"
-- columns = "name-operator win_ns-roof input_dims call_count-work total_ns-products
-- roof_ratio-products elapsed_ns source_id-rank device_id-none"
-- total_ns-products = "BIGINT: time of their kernels"
-- roof_ratio-products = "DOUBLE: time at the roof / time"
-- finding.title = "Sizes of matrix products do not suit tensor cores"
-- finding.evidence = "K or N is not a multiple of 8: {call_count:call}, {total_ns}; most in {name}
-- of {input_dims}, at {roof_ratio} of its roof"
-- finding.action = "Pad these sizes (vocabulary, heads, hidden width, batch) to multiples of 8,
-- better of 64."
-- finding.command = "query ops --param by=shape"
-- finding.sums = ["call_count", "total_ns"]
-- finding.pool = "compute"
with
    products as (
        select
            source_id,
            name,
            regexp_replace(input_dims, '\s+', '', 'g') as input_dims,
            call_count,
            work_ns,
            greatest(compute_ns, bandwidth_ns) as roof_ns,
            -- the last two sizes of the right matrix, K and N: addmm has a bias before its two
            -- matrices, and `out=` a tensor behind them
            try_cast(input_dims as bigint[][])[case when contains(name, 'add') then 3 else 2 end][
                -2:
            ] as sizes
        from attributed_op_work($run_id, $phase, 'modelled')
        where
            is_known
            and family_name = 'matmul'
            and ceiling_name in ('tensor_bf16', 'tensor_fp16')
            and work_ns > 0
            and compute_ns + bandwidth_ns is not null
    )
select
    products.name,
    whole_ns(
        least(
            greatest(sum(work_ns) - sum(roof_ns), 0), any_value(windows.end_ns - windows.start_ns)
        )
    ) as win_ns,
    products.input_dims,
    cast(sum(call_count) as bigint) as call_count,
    cast(sum(work_ns) as bigint) as total_ns,
    ratio(sum(roof_ns), sum(work_ns)) as roof_ratio,
    any_value(windows.end_ns - windows.start_ns) as elapsed_ns,
    products.source_id,
    cast(null as bigint) as device_id
from products
join step_window($run_id, $phase) as windows on windows.source_id = products.source_id
where len(list_filter(sizes, lambda size:size % 8 <> 0)) > 0
group by products.source_id, products.name, products.input_dims
having win_ns > 0
order by win_ns desc, products.source_id, products.name, products.input_dims

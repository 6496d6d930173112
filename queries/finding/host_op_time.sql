-- purpose = "Operators that take the most time of a program without device work on record."
-- source = "docs/metrics.md, sections Findings and Operators of a timeline"
-- needs = ["op_call", "calling_context"]
-- depends = ["host_work"]
-- parameters = "run_id phase"
-- columns = "name-operator win_ns-none total_ns share_ratio call_count-work second_name
-- second_ratio third_name third_ratio hint elapsed_ns-window source_id-rank device_id-none"
-- total_ns = "BIGINT: its time, without operators that it calls"
-- share_ratio = "DOUBLE: total_ns / time of all operators"
-- second_name = "VARCHAR: operator with the next most time; NULL if none"
-- second_ratio = "DOUBLE: its share"
-- third_name = "VARCHAR: the one after that; NULL if none"
-- third_ratio = "DOUBLE: its share"
-- hint = "VARCHAR: what to do about operators of this family"
-- finding.title = "These operators take the most time on the processor"
-- finding.evidence = "{name} {share_ratio} of the time of all operators, in {call_count:call}[;
-- {second_name} {second_ratio}][, {third_name} {third_ratio}]"
-- finding.action = "{hint}"
-- finding.command = "query ops"
-- finding.pool = "steps"
with
    named as (
        select
            source_id,
            name,
            arg_max(family_name, (total_ns, family_name)) as family_name,
            bool_or(is_heavy) as is_heavy,
            cast(sum(total_ns) as bigint) as total_ns,
            cast(sum(call_count) as bigint) as call_count,
            ratio(sum(total_ns), sum(sum(total_ns)) over (partition by source_id)) as share_ratio,
            any_value(elapsed_ns) as elapsed_ns
        from host_work($run_id, $phase)
        group by source_id, name
    ),
    ranked as (
        select
            *,
            lead(name) over ranking as second_name,
            lead(share_ratio) over ranking as second_ratio,
            lead(name, 2) over ranking as third_name,
            lead(share_ratio, 2) over ranking as third_ratio,
            row_number() over ranking as place
        from named
        window ranking as (partition by source_id order by total_ns desc, name)
    )
select
    name,
    cast(null as bigint) as win_ns,
    total_ns,
    share_ratio,
    call_count,
    second_name,
    second_ratio,
    third_name,
    third_ratio,
    case
        when is_heavy
        then
            'Check that all cores work (torch.get_num_threads()); try larger batches, or BF16 if '
            || 'the processor has units for it. With its peaks '
            || '(ingest --device or --peaks), advise says how much there is to save.'
        when family_name in ('elementwise', 'normalization', 'softmax', 'reduction')
        then 'Fuse it with the operators around it (torch.compile); work in place.'
        when family_name = 'data movement'
        then
            'Find out what copies or fills (query ops --param by=shape): changes of type or '
            || 'layout, new tensors in each step.'
        when family_name = 'optimizer'
        then 'Use the fused or foreach form of the optimizer.'
        else 'Look at its shapes (query ops --param by=shape): fewer, larger calls cost less.'
    end as hint,
    elapsed_ns,
    source_id,
    cast(null as bigint) as device_id
from ranked
where place = 1
order by source_id

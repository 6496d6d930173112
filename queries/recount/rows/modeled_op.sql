-- purpose = "Operators whose work their shapes tell plainly, of one type: products of two matrices,
-- element by element on tensors of one size, softmax. Only those that stand alone: without
-- operators
-- around or in them."
-- upon = "known_peak"
with
    alone as (
        select
            source_id,
            context_id,
            name as op_name,
            input_dims,
            input_types,
            try_cast(input_dims as bigint[][]) as dims,
            list_distinct(
                list_filter(
                    from_json(input_types, '["VARCHAR"]'), lambda type:type not in ('Scalar', '')
                )
            ) as types
        from calling_context
        where
            run_id = $run_id
            and context_kind = 'op'
            and parent_context_id is null
            and (source_id, context_id) not in (
                select (source_id, parent_context_id)
                from calling_context
                where run_id = $run_id and parent_context_id is not null
            )
    ),
    typed as (
        select
            *,
            case when types = ['float'] then 4 when types[1] like 'c10::%' then 2 end as width,
            case
                types[1]
                when 'float'
                then 'fp32'
                when 'c10::BFloat16'
                then 'tensor_bf16'
                when 'c10::Half'
                then 'tensor_fp16'
            end as unit_name,
            list_filter(dims, lambda sizes:len(sizes) > 0) as tensors,
            list_product(dims[1]) as first_count,
            list_product(dims[2]) as second_count,
            case
                when op_name = 'aten::mm'
                then 'product'
                when op_name = 'aten::_softmax'
                then 'softmax'
                when regexp_full_match(op_name, 'aten::(mul|add|sub|div|tanh|sigmoid|relu)')
                then 'elementwise'
            end as kind
        from alone
    )
select
    source_id,
    context_id,
    op_name,
    input_dims,
    dims,
    unit_name,
    kind,
    case
        when kind = 'product'
        then 2 * dims[1][1] * dims[1][2] * dims[2][2]
        when op_name = 'aten::mul'
        then first_count
        when kind = 'softmax'
        then 0
    end as flop,
    width * case
        kind when 'product' then first_count + second_count else first_count * len(tensors)
    end as read_bytes,
    width * if(kind = 'product', dims[1][1] * dims[2][2], first_count) as write_bytes,
    read_bytes + write_bytes as all_bytes
from typed
where
    len(types) = 1
    and unit_name is not null
    and case
        kind
        when 'product'
        then len(dims[1]) = 2 and len(dims[2]) = 2 and dims[1][2] = dims[2][1]
        else len(list_distinct(tensors)) = 1
    end

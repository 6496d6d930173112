-- purpose = "Rows of op_stat with the operator class, from the profiler's names."
-- source = "table op_class; Wang Y. E. 2020 (ParaDnn), Fig. 3: operations by class;
-- docs/metrics.md, section Operators"
-- needs = ["op_stat"]
-- depends = ["is_communication", "is_async_copy", "pattern_rank", "hlo_precision"]
-- parameters = "wanted_run"
-- columns = "run_id source_id event_id-record op_kind side_kind device_id-summed name-operator
-- type_name category_name op_name program_name occurrence_count dur_ns self_ns flop_count
-- accessed_bytes dram_bytes reported_flop_per_s reported_bytes_per_s bound_name work_source_name
-- precision_name op_class class_rank"
-- dur_ns = "time"
-- flop_count = "operations"
-- accessed_bytes = "bytes of all memories"
-- reported_flop_per_s = "DOUBLE: operations per second, if only a rate is reported"
-- reported_bytes_per_s = "DOUBLE: bytes per second, if only a rate is reported"
-- bound_name = "VARCHAR: the profiler's bound"
-- precision_name = "type of its operands, as the text of the instruction says; of a framework's
-- operator, that of all its instructions"
with
    told as (
        select
            run_id,
            source_id,
            event_id,
            op_kind,
            side_kind,
            device_id,
            name,
            type_name,
            category_name,
            op_name,
            program_name,
            occurrence_count,
            dur_ns,
            coalesce(self_ns, dur_ns) as self_ns,
            flop_count,
            accessed_bytes,
            dram_bytes,
            reported_flop_per_s,
            reported_bytes_per_s,
            bound_name,
            work_source_name,
            hlo_precision(hlo_text) as own_precision,
            case
                when op_kind = 'hlo'
                then own_precision
                when min(own_precision) over of_op = max(own_precision) over of_op
                then min(own_precision) over of_op
            end as precision_name,
            lower(regexp_extract(hlo_text, 'custom_call_target="([^"]*)"', 1)) as target_key,
            lower(category_name) as category_key,
            -- %all-reduce.3, all-reduce.3.remat and all-reduce are one
            lower(
                regexp_replace(
                    case op_kind when 'hlo' then coalesce(type_name, name) else name end,
                    '^%|(\.(\d+|clone|remat\d*))+$',
                    '',
                    'g'
                )
            ) as opcode_key,
            -- jit(f)/dot_general and model/dense/MatMul_1 say a type; behind a colon it is said
            -- outright
            lower(
                case
                    when op_kind = 'framework'
                    then type_name
                    else
                        coalesce(
                            nullif(regexp_extract(op_name, ':([^:/]+)$', 1), ''),
                            regexp_extract(op_name, '([^/:]*?)(_\d+)?:?$', 1)
                        )
                end
            ) as type_key
        from op_stat
        where wanted_run is null or run_id = wanted_run
        window
            of_op as (
                partition by
                    run_id, source_id, side_kind, device_id, program_name, coalesce(op_name, name)
            )
    ),
    keys as (
        select 'target' as key_kind, target_key as key
        from told
        union
        select 'category', category_key
        from told
        union
        select 'opcode', opcode_key
        from told
        union
        select 'type', type_key
        from told
    ),
    fitting as (
        select
            keys.key_kind,
            keys.key,
            arg_min(
                {
                    'class':op_class.class_name,
                    'place':op_class.class_rank,
                    'is_refined':op_class.is_refined
                },
                (pattern_rank(op_class.pattern), op_class.class_rank)
            ) as found
        from keys
        join op_class on op_class.key_kind = keys.key_kind and keys.key glob op_class.pattern
        group by keys.key_kind, keys.key
    ),
    -- classes by which a timeline is told apart, and what is left
    named as (
        select
            any_value(found) filter (where class_name = 'communication') as communication,
            any_value(found) filter (where class_name = 'asynchronous copy') as async_copy,
            any_value(found) filter (where class_name = 'other') as other
        from
            (
                select
                    class_name,
                    {'class':class_name, 'place':class_rank, 'is_refined':false} as found
                from op_class
            )
    ),
    found as (
        select
            told.*,
            case
                -- all its instructions are of another kind: a sum over devices, of which there is
                -- one
                when
                    op_kind = 'framework'
                    and by_type.found['class'] = 'communication'
                    and not is_communication(opcode_key, null, coalesce(category_key, 'all-reduce'))
                then coalesce(by_category.found, named.other)
                when op_kind = 'framework' and by_type.found is not null
                then by_type.found
                when is_communication(opcode_key, null, category_key)
                then named.communication
                when is_async_copy(name, category_key)
                then named.async_copy
                when op_kind = 'framework'
                then coalesce(by_opcode.found, named.other)
                else
                    coalesce(
                        by_target.found,
                        by_category.found,
                        by_opcode.found,
                        case when by_type.found['class'] <> 'communication' then by_type.found end,
                        named.other
                    )
            end as first_found,
            case
                when by_type.found['class'] in ('matmul', 'convolution')
                then by_type.found
                when by_opcode.found['class'] in ('matmul', 'convolution')
                then by_opcode.found
            end as product
        from told
        cross join named
        left join
            fitting as by_target
            on by_target.key_kind = 'target'
            and by_target.key = told.target_key
        left join
            fitting as by_category
            on by_category.key_kind = 'category'
            and by_category.key = told.category_key
        left join
            fitting as by_opcode
            on by_opcode.key_kind = 'opcode'
            and by_opcode.key = told.opcode_key
        left join fitting as by_type on by_type.key_kind = 'type' and by_type.key = told.type_key
    ),
    best as (
        select
            * exclude (
                target_key, category_key, opcode_key, type_key, own_precision, first_found, product
            ),
            case
                when first_found['is_refined'] and product is not null then product else first_found
            end as said
        from found
    )
select * exclude (said), said['class'] as op_class, said['place'] as class_rank
from best

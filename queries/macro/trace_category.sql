-- purpose = "Category of a slice in a Chrome trace by which torch's viewers know its kind."
-- source = "kineto, ActivityType.cpp; docs/export.md, section Perfetto"
-- parameters = "given_kind given_category"
-- given_kind = "VARCHAR: slice_kind"
-- given_category = "VARCHAR: category in the file; it stays if it is of that kind"
case
    given_kind
    when 'op'
    then case when given_category in ('Operator', 'hpu_op') then given_category else 'cpu_op' end
    when 'runtime'
    then
        case
            when
                given_category
                in ('Runtime', 'xpu_runtime', 'mtia_runtime', 'glow_runtime', 'privateuse1_runtime')
            then given_category
            else 'cuda_runtime'
        end
    when 'driver'
    then
        case
            when given_category in ('xpu_driver', 'privateuse1_driver')
            then given_category
            else 'cuda_driver'
        end
    when 'sync'
    then
        case
            when given_category in ('cuda_event', 'xpu_sync') then given_category else 'cuda_sync'
        end
    when 'device'
    then
        case
            when given_category in ('collective_comm', 'cuda_profiler_range')
            then given_category
            else 'mtia_ccp_events'
        end
    when 'python'
    then 'python_function'
    when 'annotation'
    then 'user_annotation'
    when 'device_annotation'
    then 'gpu_user_annotation'
    when 'overhead'
    then 'overhead'
    when 'span'
    then 'Trace'
    else given_category
end

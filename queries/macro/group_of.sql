-- purpose = "What a launch is grouped under: its kernel's name, its run's name or a label of its
-- run."
-- source = "docs/queries.md: the parameter `by`"
-- [parameters]
-- grouping_kind = {type = "VARCHAR", doc = "name, launch, run or label"}
-- kernel_name = {type = "VARCHAR", doc = "name of the kernel"}
-- title = {type = "VARCHAR", doc = "name of the run"}
-- label_value = {type = "VARCHAR", doc = "value of the label"}
case grouping_kind when 'run' then title when 'label' then label_value else kernel_name end

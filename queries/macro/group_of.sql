-- purpose = "Group of a launch: the name of its kernel, the name of its run, or a label of its
-- run."
-- source = "docs/queries.md: the parameter `by`"
-- parameters = "grouping_kind-launches kernel_name title label_value"
-- title = "VARCHAR: name of the run"
-- label_value = "VARCHAR: value of the label"
case grouping_kind when 'run' then title when 'label' then label_value else kernel_name end

-- purpose = "First five texts of a list, and how many more there are."
-- source = "docs/metrics.md: a list that a person reads"
-- parameters = "listed"
-- listed = "VARCHAR: list of texts"
array_to_string(list_slice(listed, 1, 5), ', ')
|| case when len(listed) > 5 then ' and ' || (len(listed) - 5) || ' more' else '' end

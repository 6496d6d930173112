-- purpose = "Why a value is NULL: the status of the first of its counters in the report without a
-- value."
-- source = "table kernel_counter, column status_json"
-- parameters = "statuses counters"
-- counters = "VARCHAR: columns that it is computed from, each with $. before it"
coalesce(list_any_value(json_extract_string(statuses, counters)), 'not_collected')

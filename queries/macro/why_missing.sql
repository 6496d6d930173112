-- purpose = "Why a figure is NULL: what the report says of the first of its counters that stands
-- there without a value."
-- source = "table kernel_counter, column status_json"
-- parameters = "statuses counters"
-- statuses = "VARCHAR: status_json of the launch"
-- counters = "VARCHAR: list of the columns it is worked out from, each with $. before it"
coalesce(list_any_value(json_extract_string(statuses, counters)), 'not_collected')

-- purpose = "The arguments of a trace event: its members and those that have no column."
-- source = "docs/export.md, section Perfetto"
-- parameters = "members other_json"
-- members = "VARCHAR: members as by trace_member, joined"
-- other_json = "VARCHAR: args_json of the event"
case
    when members <> '' or (other_json is not null and other_json <> '{}')
    then
        ',"args":{' || substr(
            concat(
                members,
                case
                    when other_json = '{}'
                    then ''
                    when left(other_json, 1) = '{' and json_valid(other_json)
                    then ',' || substr(other_json, 2, length(other_json) - 2)
                    else ',"args_json":' || cast(to_json(other_json) as varchar)
                end
            ),
            2
        )
        || '}'
    else ''
end

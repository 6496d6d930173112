-- purpose = "A text of a table as JSON: a list or object as it is, anything else as a string."
-- source = "docs/export.md, section Perfetto"
-- parameters = "json_or_text"
-- json_or_text = "VARCHAR: JSON, or other text"
case
    when left(json_or_text, 1) in ('[', '{') and json_valid(json_or_text)
    then json_or_text
    else cast(to_json(json_or_text) as varchar)
end

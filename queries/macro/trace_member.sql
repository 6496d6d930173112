-- purpose = "A member of a JSON object with a comma before it; NULL, which concat omits, without a
-- value."
-- source = "docs/export.md, section Perfetto"
-- parameters = "member_name member_json"
-- member_name = "VARCHAR: name without characters to escape"
-- member_json = "VARCHAR: the value as JSON"
',"' || member_name || '":' || cast(member_json as varchar)

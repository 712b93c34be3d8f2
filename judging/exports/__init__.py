"""Tables of a benchmark as files: rows from one snapshot, four formats, a manifest beside each.

`exporting` is the way in, and `requests` says what can be asked of it; `tables` opens a table by
name, from `recorded` (what was stored), `graded` (what the rule decided) or `reported` (what was
measured); `writers` and `workbook` write it, `manifest` describes it, `downloads` serves it.
"""

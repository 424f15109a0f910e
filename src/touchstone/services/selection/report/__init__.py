"""The report on a project: what was chosen, why, on which evidence, what is unknown, and what would change the choice.

`content` states the facts, which are the same in every language and format; `facts_reader` collects them from the
catalog and the database. `document` says how a report is laid out, and `sections` put the facts into words. The
formats are written by `html` and `pdf`.
"""

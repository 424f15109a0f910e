"""The report on a project: what was chosen, why, on which evidence, what is unknown, and what would change the choice.

`fact_types` defines the facts, which are the same in every language and format; `facts_reader` collects them from the
catalog and the database. `sections` put the facts into words, as the parts of a document that `document` defines and
`document_builder` puts together. The formats are written by `html` and `pdf`.
"""

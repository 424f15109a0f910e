"""The report on a project: the choice with its reasons and its evidence, the unknown facts, and the effect of changes.

`fact_types` defines the facts, which are the same in every language and format, and `facts_reader` collects them from
the catalog and the database. `sections` put the facts into words. `document_builder` combines the sections into a
document as defined by `document`, which `html` and `pdf` render.
"""

"""Metadata standards and evidence: reading documents about datasets, writing them, and proposing what their prose says.

Everything but the confined process is pure: it takes text or parsed JSON and returns values, without a database,
network access or HTTP.

- `documents`: the types that readers return and that the extractor works on
- `exported_dataset`, `exact_values`: the type that writers receive, and what an export contains for a lossless import
- `codebook`: the rule for each ethical criterion
- `extraction/`: proposals for the ethical criteria from prose
- `parsing`, `rdf`, `markdown`, `prose`: safe parsing within limits, sections of Markdown, plain text
- `comments`, `placeholders`, `access_restrictions`: recognition of certain passages in prose
- `verbatim_quotes`: verification of quotes
- `licences`: SPDX expressions for licences
- `readers/`: one module for each metadata standard
- `reading_process`, `reading_child`, `reading_protocol`: reading documents of unknown origin in a confined process
- `writers/`: one module for each export format
"""

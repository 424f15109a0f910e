"""Metadata standards and evidence: reading documents about datasets, writing them, and proposing what their prose says.

Everything but the confined process is pure: it takes text or parsed JSON and returns values, without a database,
network access or HTTP.

- `documents`: the types that readers return and that the extractor works on
- `codebook`: the rule for each ethical criterion
- `extraction/`: proposals for the ethical criteria from prose
- `parsing`, `markdown`, `prose`: safe parsing within limits, sections of Markdown, plain text
- `licences`: SPDX expressions for licences
- `readers/`: one module for each metadata standard
- `reading_process`, `reading_child`, `reading_protocol`: reading documents of unknown origin in a confined process
- `writers/`: one module for each export format
"""

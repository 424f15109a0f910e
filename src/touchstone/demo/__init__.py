"""The demo catalog: real dataset records in the package, some of them with a table.

`tools/build_demo_catalog.py` builds it. `ATTRIBUTION.md` in this folder lists its sources and their licences.
"""

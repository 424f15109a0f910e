"""The demo catalog: real dataset records that come with the package, some of them with their table.

`tools/build_demo_catalog.py` builds it. Its sources and their licences are named in `ATTRIBUTION.md` beside this file.
"""

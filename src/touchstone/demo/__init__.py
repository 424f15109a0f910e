"""The demo catalog: real dataset records that come with the package, some of them with their table.

`tools/make_demo_catalog.py` makes it. Its sources and their licences are named in `ATTRIBUTION.md` beside this file.
"""

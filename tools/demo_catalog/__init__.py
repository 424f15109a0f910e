"""The steps of `tools/build_demo_catalog.py`."""

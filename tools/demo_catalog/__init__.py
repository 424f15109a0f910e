"""Steps by which `tools/build_demo_catalog.py` makes the demo catalog from a folder of collected documents."""

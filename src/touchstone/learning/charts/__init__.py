"""Charts as Vega-Lite specifications with embedded data, in French and English, and their rendering."""

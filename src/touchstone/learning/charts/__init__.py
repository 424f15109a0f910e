"""Charts as Vega-Lite specifications with their data inside, in French and English, and their rendering."""

"""Charts as Vega-Lite specs with their data inside, in French and English, and their pictures."""

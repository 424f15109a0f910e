"""The evidence of the catalog: claims about attributes of datasets, reviews of claims, and the resulting values."""

"""The evidence of the catalog: claims about the attributes of datasets, their reviews, and what they amount to."""

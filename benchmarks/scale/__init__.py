"""The benchmark of scale: a catalog of millions of records, from its first start to bulk imports."""

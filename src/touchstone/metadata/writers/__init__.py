"""Writers of metadata standards: a dataset of the catalog in, the bytes of one document out.

`formats.FORMATS` lists them. A writer re-emits the fields that were imported in its standard as they were, adds what
the record states beyond them, and puts the exact values beside them (`touchstone.metadata.exact_values`).
"""

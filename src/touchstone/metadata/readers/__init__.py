"""Readers of metadata standards: bytes of one document in, descriptions of datasets out.

`standards.read_document` detects the standard of a document and reads it. Each other module reads one standard.
Nothing here opens a file or a connection: an address in a document is a text like any other.
"""

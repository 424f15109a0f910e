"""Import of metadata documents: from the body of a request to records and claims of the catalog."""

"""The services that HTTP requests reach: the gateway in front of selection, training and explanation."""

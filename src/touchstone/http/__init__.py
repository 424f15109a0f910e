"""Everything between a socket and a handler: the server, its limits, middleware, error responses and the clients."""

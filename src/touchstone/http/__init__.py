"""The HTTP layer, with the server, connection limits, middleware, error responses and clients."""

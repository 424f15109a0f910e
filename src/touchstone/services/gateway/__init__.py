"""The gateway: the public routes, authentication, accounts and sessions, and forwarding to the backends."""

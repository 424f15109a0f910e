"""The gateway, with public routes, authentication, accounts, sessions and forwarding to backends."""

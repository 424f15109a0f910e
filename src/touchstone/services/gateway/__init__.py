"""The only public door: routes, gate, tokens, accounts, profile."""

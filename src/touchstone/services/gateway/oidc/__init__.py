"""Signing in with an external identity provider (OpenID Connect Core 1.0, authorization code flow with PKCE)."""

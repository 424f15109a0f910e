"""The start of a process: which services it opens, in which order, and how they are connected.

The services are the gateway, which also serves the web pages, and the backends `selection`, `training` and
`explanation`. They run together in one process, or each in a process of its own. Services are closed in reverse order.

- `server_start` starts a server with the services that were asked for;
- `whole_product` opens all services in one process;
- `separate_services` opens the gateway, or one backend, as the only service of a process;
- `public_site` puts the web pages and the API on one address;
- `open_services` and `database_preparation` open and close what a service needs;
- `database_error_messages` tells the operator what to do if the database cannot be used.
"""

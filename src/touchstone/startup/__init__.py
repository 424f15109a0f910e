"""Startup of a process, which opens and connects its services.

The services are the gateway, which also serves the web pages, and the backends `selection`, `training` and
`explanation`. They run together in one process, or each in a separate process.

- `server_start` starts a server with the requested services;
- `whole_product` opens all services in one process;
- `separate_services` opens the gateway or one backend as the only service of a process;
- `public_site` combines the web pages and the API at one address;
- `open_services` closes services in reverse order at the end of the process;
- `database_preparation` opens the database and prepares its schema;
- `startup_message` contains the lines printed after the start;
- `database_error_messages` tells the operator what to do if the database cannot be used.
"""

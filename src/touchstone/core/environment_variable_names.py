"""Names of environment variables, kept apart from the settings because those take long to import for a command."""

from typing import Final

PREFIX: Final = "TOUCHSTONE_"
URL_VARIABLE: Final = PREFIX + "URL"
# Variables of the command line, which a server ignores in its environment.
CLIENT_VARIABLES: Final = {
    URL_VARIABLE: "Address of the server that commands speak to, such as `https://data.example.org`; "
    "`--url` comes first, the server that you signed in to last comes after it.",
}

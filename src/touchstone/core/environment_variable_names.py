"""Names of environment variables, which commands use without importing the settings."""

from typing import Final

PREFIX: Final = "TOUCHSTONE_"
URL_VARIABLE: Final = PREFIX + "URL"
# Variables for the command line, which servers ignore.
CLIENT_VARIABLES: Final = {
    URL_VARIABLE: "Address of the server that commands speak to, such as `https://data.example.org`; "
    "`--url` comes first, the server that you signed in to last comes after it.",
}

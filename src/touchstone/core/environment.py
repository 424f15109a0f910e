"""Names of environment variables, apart from the settings, which take long to import for a mere command."""

from typing import Final

PREFIX: Final = "TOUCHSTONE_"
URL_VARIABLE: Final = PREFIX + "URL"
# Variables of the command line: a server that finds them in its environment ignores them.
CLIENT_VARIABLES: Final = {
    URL_VARIABLE: "Address of the server that commands speak to, such as `https://data.example.org`; "
    "`--url` comes first, the server that you signed in to last comes after it.",
}

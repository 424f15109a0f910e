"""What the page of a public dataset says to search engines: its schema.org description in JSON-LD."""

import json
from collections.abc import Mapping
from typing import Any, Final

from markupsafe import Markup

from touchstone.client import Dataset
from touchstone.web.page_context import PageContext

FORMAT: Final = "jsonld"
# The exact values of the record are for catalogs like this one, and would be most of the page.
_EXACT_VALUES: Final = "touchstone:dataset"
# A page is no place for the longest documents that can be imported.
_MAX_LENGTH: Final = 256 * 1024
# What could end the element or begin another one inside a page; JSON has other spellings for it.
_HTML_ESCAPES: Final = str.maketrans(
    {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
)


async def fetch_search_engine_description(ctx: PageContext, dataset: Dataset) -> Markup | None:
    """Return the content of a script element with the description of a dataset, or None if not everybody sees it."""
    if dataset.visibility != "public" or dataset.hidden:
        return None
    file = await ctx.api.export_dataset(dataset.id, FORMAT)
    return to_script(json.loads(file.content), page_address(ctx))


def page_address(ctx: PageContext) -> str:
    """Return the public address of the page that is requested."""
    return str(ctx.request.url.replace(query=""))


def to_script(members: Mapping[str, Any], address: str) -> Markup | None:
    """Return the description of a dataset as JSON that a page can contain in a `<script>` element.

    Search engines read the description there. `address` is the address of the page, which becomes the URL of a dataset
    that has no web address of its own. The result is None if the description is too long for a page.
    """
    description = {name: value for name, value in members.items() if name != _EXACT_VALUES}

    # A URN identifies a dataset, but search engines cannot open it.
    url = str(description.get("url", "urn:"))
    if url.startswith("urn:"):
        description["url"] = address

    json_text = json.dumps(description, ensure_ascii=False)
    script = json_text.translate(_HTML_ESCAPES)
    if len(script) > _MAX_LENGTH:
        return None
    return Markup(script)  # noqa: S704 (nothing in it is HTML)

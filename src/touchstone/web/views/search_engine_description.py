"""The schema.org description of a public dataset in JSON-LD, for search engines."""

import json
from collections.abc import Mapping
from typing import Any, Final

from markupsafe import Markup

from touchstone.client import Dataset
from touchstone.web.page_context import PageContext

FORMAT: Final = "jsonld"
# The member with the exact values of the record. Only other Touchstone catalogs use it, and it is large.
_EXACT_VALUES: Final = "touchstone:dataset"
# Imported documents may be much longer than a page should be.
_MAX_LENGTH: Final = 256 * 1024
# JSON escapes for characters that could end the script element or begin another element.
_HTML_ESCAPES: Final = str.maketrans(
    {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
)


async def fetch_search_engine_description(ctx: PageContext, dataset: Dataset) -> Markup | None:
    """Return the description of a dataset for a `<script>` element, or None if the page has none.

    Private and hidden datasets have no description. A very long description is left out as well.
    """
    if dataset.visibility != "public" or dataset.hidden:
        return None
    file = await ctx.api.export_dataset(dataset.id, FORMAT)
    return to_script(json.loads(file.content), page_address(ctx))


def page_address(ctx: PageContext) -> str:
    """Return the full address of the requested page, without its query."""
    return str(ctx.request.url.replace(query=""))


def to_script(members: Mapping[str, Any], address: str) -> Markup | None:
    """Return the description of a dataset as JSON for a `<script>` element, or None if it is too long.

    Args:
        members: the schema.org description of the dataset.
        address: the address of the page, which becomes the URL of a dataset without a web address.
    """
    description = {name: value for name, value in members.items() if name != _EXACT_VALUES}

    # A dataset without a web address may have a URN instead, which search engines cannot open.
    has_web_address = "url" in description and not str(description["url"]).startswith("urn:")
    if not has_web_address:
        description["url"] = address

    json_text = json.dumps(description, ensure_ascii=False)
    script = json_text.translate(_HTML_ESCAPES)
    if len(script) > _MAX_LENGTH:
        return None
    return Markup(script)  # noqa: S704 (all HTML characters are escaped)

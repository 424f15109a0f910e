"""The Jinja templates of the pages, compiled once for each language."""

import re
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined, pass_environment
from jinja2.filters import do_truncate

from touchstone.core.text import replace_control_characters
from touchstone.messages.locales import LOCALES
from touchstone.web import chart_script
from touchstone.web.addresses import build_address, extend_query
from touchstone.web.localizer import Localizer
from touchstone.web.static_files import static_address

_TEMPLATES: Final = Path(__file__).parent / "templates"
# The values of form fields. They are not changed, so that saving a record never alters untouched fields.
_FORM_VALUE: Final = re.compile(r'(\svalue="[^"]*"|<textarea\b[^>]*>[^<]*</textarea>)')


class TemplateRenderer:
    """Renders the templates of the pages in each language.

    Templates are compiled on first use and cached for all requests.
    """

    def __init__(self) -> None:
        """Create a localizer and a Jinja environment for each language of the pages.

        Templates are never reloaded while the service runs, and a template that uses an unknown variable fails.
        """
        environment = Environment(
            loader=FileSystemLoader(_TEMPLATES),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
        )
        environment.filters["truncate"] = _truncate
        environment.globals.update(
            static=static_address,
            address=build_address,
            extended=extend_query,
            vega=chart_script.ADDRESS,
        )

        self._localizers: dict[str, Localizer] = {}
        self._environments: dict[str, Environment] = {}
        for locale in LOCALES:
            localizer = Localizer(locale)
            self._localizers[locale] = localizer
            self._environments[locale] = _localize_environment(environment, localizer)

    def localizer(self, locale: str) -> Localizer:
        """Return the localizer of a language."""
        return self._localizers[locale]

    def render(self, name: str, locale: str, **context: Any) -> str:
        """Render the template `name` in the language `locale`, with the variables in `context`."""
        template = self._environments[locale].get_template(name)
        return _replace_direction_marks(template.render(**context))


def _localize_environment(environment: Environment, localizer: Localizer) -> Environment:
    """Return a copy of the environment with the functions and filters of one language.

    Templates call functions for messages, such as `t('sign_in')`, and filters for values, such as `{{ size|bytes }}`.
    """
    localized = environment.overlay()
    localized.globals = {
        **environment.globals,
        "locale": localizer.locale,
        "t": localizer.text,
        "counted": localizer.counted,
        "attribute": localizer.attribute,
        "choose_text": localizer.choose_text,
    }
    localized.filters = {
        **environment.filters,
        "number": localizer.number,
        "cell_number": localizer.cell_number,
        "table_value": localizer.table_value,
        "percent": localizer.percent,
        "place": localizer.place,
        "date": localizer.date,
        "bytes": localizer.bytes,
        "duration": localizer.duration,
        "claim_note": localizer.claim_note,
    }
    return localized


@pass_environment
def _truncate(environment: Environment, text: str, length: int, killwords: bool = False) -> str:
    """Shorten a long text like the filter of Jinja, but mark the end with an ellipsis instead of three full stops."""
    return do_truncate(environment, text, length, killwords, end="…")


def _replace_direction_marks(html: str) -> str:
    """Replace invisible characters that reverse the direction of text by visible signs.

    With such a character, the name of a dataset could make one link look like another. The values of form fields are
    not changed, because the browser sends them back when the form is saved.
    """
    if replace_control_characters(html) == html:
        return html

    segments = []
    position = 0
    for form_value in _FORM_VALUE.finditer(html):
        segments.append(replace_control_characters(html[position : form_value.start()]))
        segments.append(form_value[0])
        position = form_value.end()

    segments.append(replace_control_characters(html[position:]))
    return "".join(segments)

"""Jinja templates, compiled once for each language."""

import re
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from touchstone.core.text import replace_control_characters
from touchstone.messages.locales import LOCALES
from touchstone.web import chart_script
from touchstone.web.addresses import build_address, extend_query
from touchstone.web.localizer import Localizer
from touchstone.web.static_files import static_address

_TEMPLATES: Final = Path(__file__).parent / "templates"
# Values that a form sends back are not changed, so that saving a record never alters untouched fields.
_FORM_VALUE: Final = re.compile(r'(\svalue="[^"]*"|<textarea\b[^>]*>[^<]*</textarea>)')


class TemplateRenderer:
    """The templates of the pages, with the functions and filters of each language.

    Templates are compiled on first use and kept for all requests. A template that uses an unknown variable fails
    instead of showing nothing.
    """

    def __init__(self) -> None:
        """Set up the templates once for each language."""
        environment = Environment(
            loader=FileSystemLoader(_TEMPLATES),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
        )
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
            self._environments[locale] = _localized(environment, localizer)

    def localizer(self, locale: str) -> Localizer:
        """Return the localizer of a language."""
        return self._localizers[locale]

    def render(self, name: str, locale: str, **context: Any) -> str:
        """Return the template `name`, filled with `context` in the language `locale`."""
        template = self._environments[locale].get_template(name)
        return _show_direction_marks(template.render(**context))


def _localized(environment: Environment, localizer: Localizer) -> Environment:
    """Return a copy of the environment whose templates write everything in one language.

    Templates call `t` for sentences and `counted` for sentences about a count. The filters format values that the
    language writes in its own way.
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
        "table_value": localizer.table_value,
        "percent": localizer.percent,
        "date": localizer.date,
        "bytes": localizer.bytes,
        "duration": localizer.duration,
    }
    return localized


def _show_direction_marks(html: str) -> str:
    """Return a page on which invisible characters that reverse the direction of text are visible.

    A dataset's name with such a character could make a link look like another one. Values of form fields keep the
    characters, because the reader has entered them and sends them back.
    """
    if replace_control_characters(html) == html:
        return html

    # Splitting at a pattern with a group puts the form values at the odd positions.
    segments = _FORM_VALUE.split(html)
    for position in range(0, len(segments), 2):
        segments[position] = replace_control_characters(segments[position])
    return "".join(segments)

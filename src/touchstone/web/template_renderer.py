"""Jinja templates, compiled once for each language."""

import re
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from touchstone.core.text import replace_control_characters
from touchstone.messages.locales import LOCALES
from touchstone.web import chart_script
from touchstone.web.addresses import build_address, extend_query
from touchstone.web.localization import Localizer
from touchstone.web.static_files import static_address

_TEMPLATES: Final = Path(__file__).parent / "templates"
# Values that a form sends back stay as they are, so that saving a record never changes untouched fields.
_FORM_VALUE: Final = re.compile(r'(\svalue="[^"]*"|<textarea\b[^>]*>[^<]*</textarea>)')


class TemplateRenderer:
    """The templates of the pages, with the functions and filters of each language."""

    def __init__(self) -> None:
        environment = Environment(
            loader=FileSystemLoader(_TEMPLATES),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
        )
        environment.globals.update(
            static=static_address, address=build_address, extended=extend_query, vega=chart_script.ADDRESS
        )
        self._localizers = {locale: Localizer(locale) for locale in LOCALES}
        self._environments = {
            locale: _localized(environment, localizer) for locale, localizer in self._localizers.items()
        }

    def localizer(self, locale: str) -> Localizer:
        """Return the localizer of a language."""
        return self._localizers[locale]

    def render(self, name: str, locale: str, **context: Any) -> str:
        """Return the template `name`, filled with `context` in the language `locale`."""
        template = self._environments[locale].get_template(name)
        return _show_direction_marks(template.render(**context))


def _localized(environment: Environment, localizer: Localizer) -> Environment:
    """Return a copy of the environment with the functions and filters of one language."""
    localized = environment.overlay()
    localized.globals = {
        **environment.globals,
        "locale": localizer.locale,
        "t": localizer.text,
        "counted": localizer.counted,
        "attribute": localizer.attribute,
        "either": localizer.either,
    }
    localized.filters = {
        **environment.filters,
        "number": localizer.number,
        "figure": localizer.figure,
        "percent": localizer.percent,
        "date": localizer.date,
        "bytes": localizer.bytes,
        "duration": localizer.duration,
    }
    return localized


def _show_direction_marks(html: str) -> str:
    """Return a page on which invisible characters that reverse the text are visible, except in form values."""
    if replace_control_characters(html) == html:
        return html
    parts = _FORM_VALUE.split(html)  # form values are at the odd positions
    return "".join(part if position % 2 else replace_control_characters(part) for position, part in enumerate(parts))

"""The order of a list and the part of it that is answered: sort key, direction, plain window or page."""

from dataclasses import dataclass
from typing import Any, Final

from touchstone.core.attributes import INT53_MAX
from touchstone.ranking.query.sort_order import SORT_KEYS
from touchstone.services.selection.filters import FILTER_PARAMETERS
from touchstone.services.selection.parameters import Form, Parameter, Parameters, Values

MAX_LIMIT: Final = 1000
PAGING: Final = (
    Parameter(
        name="skip",
        form=Form.INTEGER,
        description="How many to leave out first.",
        minimum=0,
        maximum=INT53_MAX,
        default=0,
    ),
    Parameter(
        name="limit", form=Form.INTEGER, description="How many at most.", minimum=1, maximum=MAX_LIMIT, default=100
    ),
    Parameter(
        name="page",
        form=Form.INTEGER,
        description="Page, from 1. It or `page_size` asks for the page form; skip and limit are then ignored.",
        minimum=1,
        maximum=INT53_MAX,
    ),
    Parameter(
        name="page_size",
        form=Form.INTEGER,
        description="Records on a page, 12 unless given.",
        minimum=1,
        maximum=MAX_LIMIT,
    ),
)
ORDER: Final = (
    Parameter(
        name="sort_by",
        form=Form.CHOICE,
        description="Sort key; records without the value come last, ties by id.",
        choices=tuple(SORT_KEYS),
        default="id",
    ),
    Parameter(name="sort_order", form=Form.CHOICE, description="Direction.", choices=("asc", "desc"), default="asc"),
)
PAGE_PARAMETERS: Final = Parameters(*PAGING)
LIST_PARAMETERS: Final = Parameters(*FILTER_PARAMETERS.rows, *PAGING, *ORDER)


@dataclass(frozen=True, slots=True)
class Window:
    """The part of a list that was asked for; `page` is None in the plain form."""

    skip: int
    limit: int
    page: int | None

    def numbers(self, total: int) -> dict[str, Any]:
        """The members that the page form has beside its records."""
        pages = -(-total // self.limit)
        return {"total_count": total, "page": self.page, "page_size": self.limit, "total_pages": pages}


def window_of(values: Values) -> Window:
    """The window that the paging parameters ask for."""
    if "page" in values or "page_size" in values:
        page, size = _number(values, "page", 1), _number(values, "page_size", 12)
        return Window((page - 1) * size, size, page)
    return Window(_number(values, "skip", 0), _number(values, "limit", 100), None)


def _number(values: Values, name: str, default: int) -> int:
    value = values.get(name, default)
    assert isinstance(value, int)
    return value


def order_of(values: Values) -> tuple[str, bool]:
    """The sort key, and whether it is descending."""
    return str(values.get("sort_by", "id")), values.get("sort_order") == "desc"

"""The form that adds a claim about a dataset, and the withdrawal of claims."""

from datetime import UTC, date, datetime, time
from typing import Final, Literal

from starlette.datastructures import FormData
from starlette.responses import Response
from starlette.routing import Route

from touchstone.client import TouchstoneError
from touchstone.client.fields import ClaimDetails
from touchstone.core.attributes import BY_NAME, FLAGS, Kind
from touchstone.core.errors import Invalid, NotFound
from touchstone.core.evidence import CLAIMED_ATTRIBUTES, ClaimValue
from touchstone.messages.codebook import GENERAL_RULES
from touchstone.metadata.codebook import CODEBOOK
from touchstone.web.addresses import DATASET_PATH, dataset_address
from touchstone.web.api_queries import load_reader
from touchstone.web.flash_messages import FlashMessage
from touchstone.web.forms import invalid_field, parse_number, text_field
from touchstone.web.page_context import PageContext
from touchstone.web.page_endpoint import page_endpoint

_FLAG_VALUES: Final = {"true": True, "false": False}
# The criteria about the people in the data. For these criteria, a claim about the annotators does not count.
_CRITERIA_ABOUT_PEOPLE: Final = frozenset({"informed_consent", "user_control", "anonymization_applied"})
_NOT_APPLICABLE: Final = "not_applicable"


async def new_claim_page(ctx: PageContext) -> Response:
    """Show the form for a claim about an attribute; on POST, save it and redirect to the dataset.

    The page also shows the rule of the codebook. If the reader has not created the record, the claim is only a
    proposal, and the form says so.
    """
    attribute = ctx.request.query_params.get("attribute", "")
    if attribute not in CLAIMED_ATTRIBUTES:
        raise NotFound

    form = await ctx.form()
    if not ctx.is_post:
        return await _render_claim_form(ctx, attribute, form)

    try:
        await ctx.require_new_form()
        return await _add_claim(ctx, attribute, form)
    except TouchstoneError as error:
        if error.status != Invalid.status:
            raise
        return await _render_claim_form(ctx, attribute, form, error)


async def _add_claim(ctx: PageContext, attribute: str, form: FormData) -> Response:
    """Save the claim in the form and redirect to the dataset.

    Raises:
        TouchstoneError: the form has no value, or the API refuses the claim.
    """
    dataset_id = ctx.path_params["dataset_id"]
    details = _read_details(ctx, form)
    value = _read_value(ctx, attribute, form)
    claim = await ctx.api.add_claim(dataset_id, attribute, value, **details)

    message = FlashMessage.CLAIM_PROPOSED if claim.status == "proposed" else FlashMessage.CLAIM_ADDED
    return ctx.redirect(dataset_address(dataset_id), done=message)


async def _render_claim_form(
    ctx: PageContext, attribute: str, form: FormData, error: TouchstoneError | None = None
) -> Response:
    """Return the page with the form for a claim, filled in with `form`."""
    dataset = await ctx.api.get_dataset(ctx.path_params["dataset_id"])
    evidence = await ctx.api.get_evidence(dataset.id)

    return await ctx.render(
        "evidence/claim_form.html",
        error=error,
        form=form,
        dataset=dataset,
        attribute_name=attribute,
        is_flag=attribute in FLAGS,
        is_about_people=attribute in _CRITERIA_ABOUT_PEOPLE,
        criterion_rule=CODEBOOK.get(attribute),
        general_rules=GENERAL_RULES,
        reader=await load_reader(ctx, evidence),
    )


def _read_value(ctx: PageContext, attribute: str, form: FormData) -> ClaimValue:
    """Read the value of the claim, or return None if the attribute does not apply to the dataset.

    Raises:
        TouchstoneError: the form has no value, or the value of a numeric attribute is not a number.
    """
    text = text_field(form, "value")
    if text == _NOT_APPLICABLE:
        return None

    if attribute in FLAGS:
        if text not in _FLAG_VALUES:
            raise invalid_field(ctx.text("claim_value_missing"), "value")
        return _FLAG_VALUES[text]

    try:
        is_whole_number = BY_NAME[attribute].kind is Kind.INTEGER
        return parse_number(text, commas_may_separate_thousands=is_whole_number)
    except ValueError:
        message = ctx.text("rank_not_a_number", name=ctx.localizer.attribute(attribute))
        raise invalid_field(message, "value") from None


def _read_details(ctx: PageContext, form: FormData) -> ClaimDetails:
    """Read the quote, its place and source, the scope and the last day of validity of a claim.

    Empty fields are left out.

    Raises:
        TouchstoneError: the last day of validity is in the past or is not a date.
    """
    details = ClaimDetails()
    if quote := text_field(form, "quote"):
        details["quote"] = quote
    if place := text_field(form, "place"):
        details["place"] = place
    if source := _read_source(form):
        details["source"] = source
    if last_day := text_field(form, "until"):
        details["until"] = _end_of_day(ctx, last_day)

    match text_field(form, "scope"):
        case "subjects" | "annotators" as scope:
            details["scope"] = scope

    if text_field(form, "value") == _NOT_APPLICABLE:
        details["not_applicable"] = True
    return details


def _end_of_day(ctx: PageContext, text: str) -> str:
    """Return the last second of the day in the field `until`, in ISO 8601.

    The day is in UTC, like all times on the pages.

    Raises:
        TouchstoneError: the field does not contain a date, or the day is in the past.
    """
    message = ctx.text("claim_until_past")
    try:
        last_day = date.fromisoformat(text)
    except ValueError:
        raise invalid_field(message, "until") from None

    end = datetime.combine(last_day, time(23, 59, 59), UTC)
    if end <= datetime.now(UTC):
        raise invalid_field(message, "until")
    return end.isoformat()


def _read_source(form: FormData) -> dict[Literal["kind", "name", "url", "sha256"], str]:
    """Read the name and the address of the document that supports a claim; empty fields are left out."""
    source: dict[Literal["kind", "name", "url", "sha256"], str] = {}
    if name := text_field(form, "source_name"):
        source["name"] = name
    if url := text_field(form, "source_url"):
        source["url"] = url
    return source


async def withdraw_claim(ctx: PageContext) -> Response:
    """Withdraw a claim and redirect to the dataset, which still shows the claim in its history."""
    dataset_id = ctx.path_params["dataset_id"]
    await ctx.api.withdraw_claim(dataset_id, ctx.path_params["claim_id"])
    return ctx.redirect(dataset_address(dataset_id), done=FlashMessage.CLAIM_WITHDRAWN)


ROUTES: Final = (
    Route("/app/datasets/{dataset_id:int}/claims/new", page_endpoint(new_claim_page), methods=["GET", "POST"]),
    Route(
        "/app/datasets/{dataset_id:int}/claims/{claim_id:uuid}/withdraw",
        page_endpoint(withdraw_claim, form_page=DATASET_PATH),
        methods=["POST"],
    ),
)

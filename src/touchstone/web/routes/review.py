"""The review of claims: the queue of claims that await a decision, and the page of a single claim."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from starlette.datastructures import FormData
from starlette.responses import Response
from starlette.routing import Route

from touchstone.client import Claim, TouchstoneError
from touchstone.client.evidence_models import AwaitedDecision, Decision
from touchstone.core.errors import ClaimClosed, Invalid, NotFound
from touchstone.messages.codebook import GENERAL_RULES
from touchstone.metadata.codebook import CODEBOOK
from touchstone.web.addresses import build_address, dataset_address
from touchstone.web.api_queries import load_reader
from touchstone.web.flash_messages import FlashMessage
from touchstone.web.forms import invalid_field, text_field
from touchstone.web.ignored_parameters import describe_ignored_parameters
from touchstone.web.page_context import PageContext
from touchstone.web.page_endpoint import page_endpoint
from touchstone.web.rank_state import parse_small_integer
from touchstone.web.views.evidence_view import find_claim, quote_in_context

_QUEUE: Final = "/app/review"
_CLAIM_PATH: Final = "/app/review/{dataset_id}/{claim_id}"
_DECISIONS: Final[tuple[Decision, ...]] = ("accept", "confirm", "reject")
# The script of the page presses the button of a decision when its key is typed.
_DECISION_KEYS: Final[Mapping[Decision, str]] = {"accept": "a", "confirm": "c", "reject": "r"}
_FORM_ERRORS: Final = (Invalid.status, ClaimClosed.status)


@dataclass(frozen=True, slots=True)
class QueuePlace:
    """The place of a claim in a queue.

    Attributes:
        awaiting: the decision that the claims in the queue await.
        position: the position of the claim, from 1.
        total: the number of claims in the queue.
        has_left: whether the claim has left the queue, because somebody else has decided about it. The claim that
            followed it has its position now.
    """

    awaiting: AwaitedDecision
    position: int
    total: int
    has_left: bool = False

    @property
    def next_position(self) -> int | None:
        """The position of the claim to go on with, or None after the last one."""
        position = self.position if self.has_left else self.position + 1
        return position if position <= self.total else None


async def review_queue(ctx: PageContext) -> Response:
    """Show one of the claims that await a decision of the reader, oldest first.

    There are two queues: proposals that await their acceptance, and, for curators, claims with quotes that await a
    confirmation. The address contains the queue and the position in it. A decision removes the claim from the queue, so
    the next claim has the same position. After the last claim, the page returns to the first.
    """
    awaiting = _read_awaited_decision(ctx.request.query_params.get("awaiting", ""))
    position = parse_small_integer(ctx.request.query_params.get("position", "")) or 1

    page = await ctx.api.page_proposals(page=position, page_size=1, awaiting=awaiting)
    if page.total_count == 0:
        return await ctx.render("evidence/review_none.html", address_notes=_address_notes(ctx), awaiting=awaiting)

    is_beyond_last_claim = not page.proposals
    if is_beyond_last_claim:
        return ctx.redirect(_QUEUE, awaiting=awaiting)

    place = QueuePlace(awaiting, position, page.total_count)
    return await _render_review(ctx, page.proposals[0], place=place)


async def claim_page(ctx: PageContext) -> Response:
    """Show a single claim with its evidence, and the decisions that the reader may make."""
    return await _render_review(ctx, await _load_claim(ctx))


async def decide_claim(ctx: PageContext) -> Response:
    """Save the decision on a claim, and redirect to the next claim in the queue or to the dataset.

    If somebody else has decided on the claim in the meantime, the claim is shown again with an error, at its place in
    the queue.
    """
    form = await ctx.form()
    dataset_id = ctx.path_params["dataset_id"]
    claim_id = ctx.path_params["claim_id"]

    try:
        await ctx.require_new_form()
        await _check_claim_unchanged(ctx, form)
        decision = _read_decision(form)
        await ctx.api.review_claim(dataset_id, claim_id, decision, note=text_field(form, "note") or None)
    except TouchstoneError as error:
        if error.status not in _FORM_ERRORS:
            raise
        claim = await _load_claim(ctx)
        return await _render_review(ctx, claim, form=form, error=error, place=await _load_place(ctx, form, claim))

    position = parse_small_integer(text_field(form, "position"))
    if position is None:
        return ctx.redirect(dataset_address(dataset_id), done=FlashMessage.CLAIM_DECIDED)

    awaiting = _read_awaited_decision(text_field(form, "awaiting"))
    return ctx.redirect(_QUEUE, awaiting=awaiting, position=position, done=FlashMessage.CLAIM_DECIDED)


async def _load_claim(ctx: PageContext) -> Claim:
    """Return the claim in the path of the request.

    Raises:
        NotFound: the dataset has no such claim.
    """
    evidence = await ctx.api.get_evidence(ctx.path_params["dataset_id"])
    claim = find_claim(evidence, ctx.path_params["claim_id"])
    if claim is None:
        raise NotFound
    return claim


async def _check_claim_unchanged(ctx: PageContext, form: FormData) -> None:
    """Check that nobody has decided on the claim since the reader has opened the form.

    The API lets a curator reject a claim that another curator has just confirmed. Whoever does so must have seen the
    confirmation. A decision that arrives between this check and the reader's own goes unnoticed.

    Raises:
        TouchstoneError: the claim has changed.
    """
    if text_field(form, "claim_state") != _claim_state(await _load_claim(ctx)):
        raise invalid_field(ctx.text("review_changed"), "decision")


def _claim_state(claim: Claim) -> str:
    """Return a string that changes with every decision on a claim and with its withdrawal."""
    reviewed_at = claim.review.at if claim.review else None
    return f"{claim.status} {reviewed_at}"


async def _load_place(ctx: PageContext, form: FormData, claim: Claim) -> QueuePlace | None:
    """Return the place in the queue at which a form was opened, or None if it was not opened from a queue."""
    position = parse_small_integer(text_field(form, "position"))
    if position is None:
        return None

    awaiting = _read_awaited_decision(text_field(form, "awaiting"))
    page = await ctx.api.page_proposals(page=position, page_size=1, awaiting=awaiting)
    is_in_queue = any(queued.id == claim.id for queued in page.proposals)
    return QueuePlace(awaiting, position, page.total_count, has_left=not is_in_queue)


def _read_decision(form: FormData) -> Decision:
    """Return the decision that the reader has selected.

    Raises:
        NotFound: the decision is unknown.
    """
    for decision in _DECISIONS:
        if text_field(form, "decision") == decision:
            return decision
    raise NotFound


def _read_awaited_decision(text: str) -> AwaitedDecision:
    """Convert the name of a queue to the awaited decision, which is `acceptance` for unknown names."""
    return "confirmation" if text == "confirmation" else "acceptance"


def _address_notes(ctx: PageContext) -> tuple[str, ...]:
    """Return a sentence about each parameter of the address that has no effect on the queue."""
    return describe_ignored_parameters(ctx, numbers=["position"], names=["awaiting"])


async def _render_review(
    ctx: PageContext,
    claim: Claim,
    *,
    form: FormData | None = None,
    error: TouchstoneError | None = None,
    place: QueuePlace | None = None,
) -> Response:
    """Return the page for deciding on a claim, with other claims about the same attribute.

    Args:
        ctx: the request.
        claim: the claim.
        form: the submitted form, after an error.
        error: the error in the form.
        place: the place of the claim in its queue; None for a single claim.
    """
    dataset = await ctx.api.get_dataset(claim.dataset_id)
    evidence = await ctx.api.get_evidence(claim.dataset_id)
    reader = await load_reader(ctx, evidence)
    ctx.page_address = _claim_address(claim, place)

    decisions = reader.decisions(claim)
    open_claims = [other for other in evidence.claims if other.status in ("active", "proposed")]
    other_claims = [other for other in open_claims if other.attribute == claim.attribute and other.id != claim.id]
    return await ctx.render(
        "evidence/review.html",
        address_notes=_address_notes(ctx),
        error=error,
        form=form or FormData(),
        claim=claim,
        claim_state=_claim_state(claim),
        dataset=dataset,
        declared_by=evidence.declared_by,
        current=evidence.attributes.get(claim.attribute),
        other_claims=other_claims,
        context=quote_in_context(claim.quote, (dataset.description, dataset.objective)),
        criterion_rule=CODEBOOK.get(claim.attribute),
        general_rules=GENERAL_RULES,
        reader=reader,
        decisions=decisions,
        decision_keys=_DECISION_KEYS,
        key_meanings=", ".join(_key_meaning(ctx, decision) for decision in decisions),
        queue=place,
    )


def _claim_address(claim: Claim, place: QueuePlace | None) -> str:
    """Return the address of a claim, which is its place in the queue or its page."""
    if place is not None and not place.has_left:
        return build_address(_QUEUE, awaiting=place.awaiting, position=place.position)
    return _CLAIM_PATH.format(dataset_id=claim.dataset_id, claim_id=claim.id)


def _key_meaning(ctx: PageContext, decision: Decision) -> str:
    """Return the key for a decision with the verb on its button, such as `A accept`."""
    verb = ctx.text(f"review_{decision}").lower()
    return f"{_DECISION_KEYS[decision].upper()} {verb}"


ROUTES: Final = (
    Route(_QUEUE, page_endpoint(review_queue)),
    Route("/app/review/{dataset_id:int}/{claim_id:uuid}", page_endpoint(claim_page)),
    Route(
        "/app/review/{dataset_id:int}/{claim_id:uuid}/decide",
        page_endpoint(decide_claim, form_page=_CLAIM_PATH),
        methods=["POST"],
    ),
)

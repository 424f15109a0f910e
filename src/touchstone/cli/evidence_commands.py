"""`touchstone evidence`: the claims about a dataset, and the review of proposals."""

from typing import Annotated, Any, Final
from uuid import UUID

import msgspec
import typer
from rich.table import Table

from touchstone.cli.command_context import CommandContext
from touchstone.cli.command_runner import server_command
from touchstone.cli.option_groups import PAGE, Option, OptionGroup, check_is_finite
from touchstone.cli.tables import Column, build_facts_table, build_table, digits_of, format_value
from touchstone.client import Claim, Evidence
from touchstone.client.evidence_models import ClaimSource, Decision, Person, Review
from touchstone.core.attributes import BY_NAME, FLAGS
from touchstone.core.evidence import CLAIMED_ATTRIBUTES, ClaimValue

evidence = typer.Typer(help="The evidence for what a record says, and its review.", no_args_is_help=True)

NOT_APPLICABLE: Final = "not-applicable"
SHORT_ID_LENGTH: Final = 8
FLAG_VALUES: Final = {"true": True, "false": False, "yes": True, "no": False}

DatasetId = Annotated[str, typer.Argument(help="Id or UUID.")]
ClaimId = Annotated[str, typer.Argument(help="Id of the claim, or its beginning, from `touchstone evidence list`.")]


def _short_id(claim: Claim) -> str:
    """Return the beginning of the id of a claim, which is enough to identify the claim within its dataset."""
    return str(claim.id)[:SHORT_ID_LENGTH]


def _value_text(claim: Claim) -> str:
    """Return the value of a claim as text for a table. Years have no spaces between thousands."""
    if claim.not_applicable:
        return NOT_APPLICABLE
    if claim.attribute == "year" and isinstance(claim.value, int):
        return str(claim.value)
    return format_value(claim.value)


def _person_text(person: Person | None) -> str:
    """Return the pseudonym of a person, the id without one, or `the service` for None."""
    if person is None:
        return "the service"
    return person.pseudo or str(person.id)


def _source_text(source: ClaimSource | None) -> str:
    """Return the name of a source, or its address or kind if it has no name."""
    if source is None:
        return ""
    return source.name or source.url or source.kind or ""


CLAIM_COLUMNS: Final = (
    Column[Claim]("Claim", _short_id, is_key=True),
    Column[Claim]("Attribute", lambda claim: claim.attribute),
    Column[Claim]("Value", _value_text),
    Column[Claim]("Level", lambda claim: claim.level, is_key=True),
    Column[Claim]("Status", lambda claim: claim.status, is_key=True),
    Column[Claim]("By", lambda claim: _person_text(claim.by)),
    Column[Claim]("Quote", lambda claim: claim.quote or ""),
)
PROPOSAL_COLUMNS: Final = (
    Column[Claim]("Dataset", lambda claim: digits_of(claim.dataset_id), is_number=True),
    Column[Claim]("Name", lambda claim: claim.dataset_name or ""),
    *CLAIM_COLUMNS,
)


def _build_claim_details(given_options: dict[str, Any]) -> dict[str, Any]:
    """Convert the options of a claim to keyword arguments of `Touchstone.add_claim`.

    The options `source_name`, `source_url` and `source_kind` become the members of one object, `source`.
    """
    details = dict(given_options)

    source = {}
    for key in ("name", "url", "kind"):
        value = details.pop(f"source_{key}", None)
        if value is not None:
            source[key] = value

    if source:
        details["source"] = source
    return details


CLAIM_OPTIONS: Final = OptionGroup(
    (
        Option("quote", str, "A verbatim quote that supports the claim."),
        Option("place", str, "The position of the quote in the source, such as a section or a page."),
        Option("source_name", str, "Name of the document."),
        Option("source_url", str, "Address of the document."),
        Option("source_kind", str, "Kind of the document, such as `datasheet` or `paper`."),
        Option("scope", str, "Whom the quote is about: `subjects` or `annotators`."),
        Option("until", str, "The claim counts until this time (ISO 8601)."),
    ),
    build=_build_claim_details,
    help_panel="Evidence",
)


@server_command(evidence, "list")
def list_claims(
    dataset: DatasetId,
    attribute: Annotated[str | None, typer.Option(help="Only the claims about this attribute.")] = None,
    *,
    context: CommandContext,
) -> None:
    """List the claims about a dataset, newest first, with those that were rejected or withdrawn."""
    if attribute is not None:
        _check_attribute(attribute)
    shown_evidence = _evidence_about(attribute, context.client.get_evidence(dataset))
    claims = shown_evidence.claims
    context.show(shown_evidence, build_table(CLAIM_COLUMNS, claims, title=f"Claims: {len(claims)}"))


def _evidence_about(attribute: str | None, evidence: Evidence) -> Evidence:
    """Return the claims about one attribute and its state, or all evidence if no attribute is given."""
    if attribute is None:
        return evidence
    claims = [claim for claim in evidence.claims if claim.attribute == attribute]
    states = {name: state for name, state in evidence.attributes.items() if name == attribute}
    return msgspec.structs.replace(evidence, claims=claims, attributes=states)


@server_command(evidence, "proposals", page=PAGE)
def list_proposals(
    to_confirm: Annotated[
        bool, typer.Option("--to-confirm", help="As a curator: quoted claims that nobody has confirmed yet.")
    ] = False,
    *,
    context: CommandContext,
    page: dict[str, Any],
) -> None:
    """List the open proposals that you may accept or reject, the oldest first."""
    proposals = context.client.page_proposals(**page, awaiting="confirmation" if to_confirm else None)
    title = f"Proposals: {proposals.total_count}, page {proposals.page} of {proposals.total_pages}"
    context.show(proposals, build_table(PROPOSAL_COLUMNS, proposals.proposals, title))


@server_command(evidence, "add", details=CLAIM_OPTIONS)
def add(
    dataset: DatasetId,
    attribute: Annotated[str, typer.Argument(help="Name of the attribute, such as informed_consent.")],
    value: Annotated[str, typer.Argument(help="true, false, not-applicable, or a number.")],
    *,
    context: CommandContext,
    details: dict[str, Any],
) -> None:
    """Claim that an attribute has a value. On a record of somebody else, the claim is a proposal.

    For example: touchstone evidence add 12 informed_consent true --quote "All participants signed a consent form."
    """
    if value == NOT_APPLICABLE:
        details = {**details, "not_applicable": True}

    claim = context.client.add_claim(dataset, attribute, _parse_value(attribute, value), **details)
    context.show(claim, _claim_table(claim))


def _check_attribute(attribute: str) -> None:
    """Check that there can be claims about an attribute.

    Raises:
        typer.BadParameter: there are no claims about this attribute.
    """
    if attribute not in CLAIMED_ATTRIBUTES:
        raise typer.BadParameter(f"{attribute!r} is not one of {', '.join(CLAIMED_ATTRIBUTES)}")


def _parse_value(attribute: str, text: str) -> ClaimValue:
    """Parse the value that a user claims for an attribute, or return None if the attribute does not apply.

    Raises:
        typer.BadParameter: there are no claims about this attribute, or the value is invalid.
    """
    _check_attribute(attribute)
    if text == NOT_APPLICABLE:
        return None

    if attribute in FLAGS:
        flag_text = text.lower()
        if flag_text not in FLAG_VALUES:
            raise typer.BadParameter(f"the value of {attribute} is true, false or {NOT_APPLICABLE}")
        return FLAG_VALUES[flag_text]

    try:
        number = float(text)
    except ValueError:
        raise typer.BadParameter(f"the value of {attribute} is a number or {NOT_APPLICABLE}") from None
    check_is_finite(number)
    return int(number) if number.is_integer() else number


@server_command(evidence, "review")
def review(
    dataset: DatasetId,
    claim_id: ClaimId,
    decision: Annotated[
        str,
        typer.Argument(
            help="accept (a proposal), confirm (as a curator, a claim of somebody else) or reject (a proposal, or as a "
            "curator any claim)."
        ),
    ],
    note: Annotated[
        str | None, typer.Option(help="The reason for the decision, which is stored with the claim.")
    ] = None,
    *,
    context: CommandContext,
) -> None:
    """Decide on a claim about a record of yours, or on any claim as a curator."""
    parsed_decision = _parse_decision(decision)
    full_id = _find_claim(context, dataset, claim_id)
    claim = context.client.review_claim(dataset, full_id, parsed_decision, note=note)
    context.show(claim, _claim_table(claim))


def _find_claim(context: CommandContext, dataset: str, id_beginning: str) -> UUID:
    """Return the full id of the claim about a dataset whose id has the given beginning.

    Raises:
        typer.BadParameter: no claim has such an id, or several claims have.
    """
    claims = context.client.get_evidence(dataset).claims
    lower_case_beginning = id_beginning.lower()
    matching_ids = [claim.id for claim in claims if str(claim.id).startswith(lower_case_beginning)]
    if len(matching_ids) != 1:
        raise typer.BadParameter(f"{len(matching_ids)} claims about dataset {dataset} have an id like {id_beginning!r}")
    return matching_ids[0]


def _parse_decision(text: str) -> Decision:
    """Return the decision with the given name.

    Raises:
        typer.BadParameter: there is no such decision.
    """
    match text:
        case "accept" | "confirm" | "reject":
            return text
    raise typer.BadParameter("a decision is accept, confirm or reject")


@server_command(evidence, "withdraw")
def withdraw(dataset: DatasetId, claim_id: ClaimId, *, context: CommandContext) -> None:
    """Withdraw a claim of yours, or any claim as a curator; it stays in the history."""
    claim = context.client.withdraw_claim(dataset, _find_claim(context, dataset, claim_id))
    context.show(claim, _claim_table(claim))


def _claim_table(claim: Claim) -> Table:
    """Return a table with all details of a claim."""
    values_by_label = {
        "Claim": claim.id,
        "Dataset": digits_of(claim.dataset_id),
        "Value": _value_text(claim),
        "Level": claim.level,
        "Status": claim.status,
        "By": _person_text(claim.by),
        "At": claim.at,
        "Note": claim.note,
        "Quote": claim.quote,
        "Place": claim.place,
        "Source": _source_text(claim.source),
        "About": claim.scope,
        "Until": claim.until,
        "Review": _review_text(claim.review),
        "Withdrawn": claim.withdrawn_at,
    }
    return build_facts_table(values_by_label, title=BY_NAME[claim.attribute].label_en)


def _review_text(claim_review: Review | None) -> str:
    """Return the last decision on a claim as text, with its author and its reason."""
    if claim_review is None:
        return ""
    decision = f"{claim_review.decision} by {_person_text(claim_review.by)}"
    return f"{decision}: {claim_review.note}" if claim_review.note else decision


def register(app: typer.Typer) -> None:
    """Add `evidence` to the application."""
    app.add_typer(evidence, name="evidence")

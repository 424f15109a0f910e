"""`touchstone doctor`: check the installation, and the evidence in its catalog."""

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

import typer

from touchstone.cli.command_runner import ExitStatus
from touchstone.cli.local_command import local_command
from touchstone.core.evidence import EvidenceLevel
from touchstone.core.settings import Settings
from touchstone.database.migrations import check_schema
from touchstone.services.selection.evidence.catalog_audit import EvidenceAudit, FaultyClaim, audit_catalog
from touchstone.services.selection.evidence.evidence_faults import FAULT_TITLES
from touchstone.startup.database_error_messages import check_database_file, startup_errors
from touchstone.startup.database_preparation import open_database

MAX_QUOTE_CHARACTERS: Final = 100


def doctor(
    catalog: Annotated[bool, typer.Option("--catalog", help="Check the evidence for every claim that counts.")] = False,
    documents: Annotated[
        Path | None,
        typer.Option(
            exists=True,
            file_okay=False,
            help="A folder of source documents that are searched for quotes. Implies --catalog.",
        ),
    ] = None,
    limit: Annotated[int, typer.Option(min=0, help="How many faulty claims are listed.")] = 100,
) -> None:
    """Check the database of this installation and, with --catalog, the evidence in it.

    The command uses the database that TOUCHSTONE_* variables name, even while a server is running. It reads the whole
    file of an SQLite database, which takes a minute or more for tens of gigabytes, and reports damage. The exit status
    is 1 if a claim is supported only by a placeholder, a heading or a licence, or if a quote is not in its source.
    """
    settings = Settings.load()
    is_catalog_checked = catalog or documents is not None
    check = asyncio.run(_check_database(settings, documents, audits_catalog=is_catalog_checked))
    typer.echo(f"Database: schema {check.revision}, as this version needs it.")
    if check.has_file:
        typer.echo("File: no damage found.")
    if check.audit is None:
        return

    for line in audit_lines(check.audit, limit):
        typer.echo(line)
    if check.audit.faulty:
        raise typer.Exit(ExitStatus.REFUSED)


@dataclass(frozen=True, slots=True)
class DatabaseCheck:
    """The result of a check that has found no fault in the database itself.

    Attributes:
        revision: The revision of the schema.
        has_file: Whether the database is an SQLite file, which has been checked for damage.
        audit: The audit of the evidence, if one was requested.
    """

    revision: str
    has_file: bool
    audit: EvidenceAudit | None


async def _check_database(settings: Settings, documents_dir: Path | None, *, audits_catalog: bool) -> DatabaseCheck:
    """Check the schema and the file of the database and, with `audits_catalog`, the evidence in the catalog.

    Quotes are looked up in the source documents in `documents_dir`, unless it is None.

    Raises:
        SettingsError: There is no database, or its file is damaged.
        SchemaError: The database is empty, or its schema is older or newer than this code.
    """
    async with open_database(settings, must_exist=True) as database:
        with startup_errors(settings):
            revision = await check_schema(database)
            has_file = await asyncio.to_thread(check_database_file, settings)
        if not audits_catalog:
            return DatabaseCheck(revision, has_file, audit=None)

        async with database.streaming() as connection:
            return DatabaseCheck(revision, has_file, await audit_catalog(connection, documents_dir))


def audit_lines(audit: EvidenceAudit, limit: int) -> list[str]:
    """Return the result of an audit as lines of text, with at most `limit` faulty claims."""
    levels = ", ".join(f"{audit.claims[level]} {level.value}" for level in EvidenceLevel)
    count_lines = [
        f"Records: {audit.records}.",
        f"Claims that count: {audit.claims.total()} ({levels}).",
        f"Quotes found verbatim in their source: {audit.verified}; source not at hand: {audit.unverified}.",
    ]
    fault_lines = [f"{audit.count_of(fault)} {title}" for fault, title in FAULT_TITLES.items()]

    claim_lines = [_claim_line(claim) for claim in audit.faulty[:limit]]
    unlisted_count = len(audit.faulty) - limit
    if unlisted_count > 0:
        claim_lines.append(f"… and {unlisted_count} more.")

    return [*count_lines, *fault_lines, *claim_lines]


def _claim_line(claim: FaultyClaim) -> str:
    """Return a faulty claim as one line of text, with its fault, dataset, attribute and quote."""
    quote = " ".join(claim.quote.split())[:MAX_QUOTE_CHARACTERS]
    name = " ".join(claim.dataset_name.split())
    return f"{claim.fault.value}: record {claim.dataset_id} ({name}), {claim.attribute}: {quote!r}"


def register(app: typer.Typer) -> None:
    """Add `doctor` to the application."""
    local_command(app, "doctor")(doctor)

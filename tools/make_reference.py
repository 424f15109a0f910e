"""Generate reference pages in `docs/reference/` from tables in the code.

A test verifies that the pages are up to date. Run `python tools/make_reference.py` to renew them.
"""

import asyncio
import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, Literal, get_args, get_origin

import msgspec
import typer
from msgspec import Struct
from typer.core import TyperGroup

from touchstone.cli.filter_options import FILTERS as FILTER_OPTIONS
from touchstone.cli.job_options import EXPLAIN_PATHS, EXPLAINING, TRAIN_PATHS, TRAINING
from touchstone.cli.main import build_application
from touchstone.cli.option_groups import OptionGroup
from touchstone.core.attributes import ATTRIBUTES, Attribute
from touchstone.core.environment_variable_names import CLIENT_VARIABLES, PREFIX
from touchstone.core.error_table import ERRORS
from touchstone.core.settings import Settings
from touchstone.jobs.job_states import FINAL_STATES, MOVES
from touchstone.learning.request_choices import ALGORITHMS, METHODS, METRICS
from touchstone.learning.request_definitions import ExplanationRequest, TrainingRequest
from touchstone.messages import MESSAGES
from touchstone.messages.codebook import GENERAL_RULES
from touchstone.messages.onnx_reasons import ONNX_REASONS
from touchstone.messages.report import REPORT_TEXTS
from touchstone.messages.report_law import LEGAL_POINT_TITLES
from touchstone.metadata.codebook import CODEBOOK
from touchstone.metadata.exact_values import MEMBER, ExactValues
from touchstone.metadata.exported_dataset import ExportedClaim
from touchstone.metadata.writers.formats import FORMATS
from touchstone.ranking.criteria import CRITERIA
from touchstone.ranking.criterion_formulas import DOCUMENTATION_PART, QUALITY_PART, SIZE_PART
from touchstone.ranking.query.sort_order import RELEVANCE, SORT_KEYS
from touchstone.ranking.weight_profiles import DEFAULT_PROFILE, PROFILES
from touchstone.services.gateway.public_routes import PUBLIC_ROUTES
from touchstone.services.selection.filters import FILTERS
from touchstone.services.selection.gates import GATES
from touchstone.services.selection.report.fact_types import ReportContent
from touchstone.services.selection.report.formats import FORMATS as REPORT_FORMATS
from touchstone.services.selection.report.legal_points import LEGAL_POINTS
from touchstone.services.selection.report.limitations import Limitation
from touchstone.startup.whole_product import openapi

MEANINGS_WITHOUT_OPTION: Final = {
    "dataset_id": "The number or the UUID of the dataset to learn from, which is an argument of the command.",
    "output": "Whether attributions add up to a probability or to its log-odds.",
}
"""The meanings of the fields of a request that are not options of the command line."""
FOLDER: Final = Path(__file__).parent.parent / "docs" / "reference"


def format_table(header: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> str:
    """Format a Markdown table."""
    separator = tuple("---" for _ in header)
    lines = [_format_row(row) for row in (header, separator, *rows)]
    return "\n".join(lines) + "\n"


def _format_row(cells: tuple[object, ...]) -> str:
    """Format a row of a Markdown table, escaping vertical bars and replacing line breaks."""
    escaped_cells = [str(cell).replace("|", "\\|").replace("\n", " ") for cell in cells]
    return f"| {' | '.join(escaped_cells)} |"


def code_list(names: Iterable[str]) -> str:
    """Format names as code, separated by commas."""
    return ", ".join(f"`{name}`" for name in names)


def settings_page() -> str:
    """Return the page of settings with their defaults and meanings."""
    settings = []
    for name, field in Settings.model_fields.items():
        default = "" if field.default in (None, (), "") else f"`{field.default}`"
        is_choice = get_origin(field.annotation) is Literal
        choices = f" Values: {code_list(get_args(field.annotation))}." if is_choice else ""
        settings.append((f"`{PREFIX}{name.upper()}`", default, f"{field.description}{choices}"))
    client_variables = [(f"`{name}`", meaning) for name, meaning in CLIENT_VARIABLES.items()]

    return (
        "# Settings\n\n"
        "A service reads its settings from environment variables when it starts. "
        "If a name is unknown or a value is invalid, it prints a line that says so, and does not start. "
        "An empty value is invalid, except for a list.\n\n"
        + format_table(("Variable", "Default", "Meaning"), settings)
        + "\n## Variables of the command line\n\n"
        "Commands that connect to a server read these variables. Servers ignore them.\n\n"
        + format_table(("Variable", "Meaning"), client_variables)
    )


def commands_page() -> str:
    """Return the page of the commands of `touchstone`, with the first sentence of their help texts."""
    application = typer.main.get_command(build_application())
    leaf_commands = list(_leaf_commands(application, "touchstone"))
    commands = [(f"`{name}`", (command.help or "").partition("\n\n")[0]) for name, command in leaf_commands]
    filter_options = {option.name for option in FILTER_OPTIONS.options}
    filtering_commands = [
        name.removeprefix("touchstone ")
        for name, command in leaf_commands
        if filter_options <= {parameter.name for parameter in command.params}
    ]

    return (
        "# Commands\n\n"
        "`touchstone COMMAND --help` lists the arguments and options of a command. Commands that need a server use "
        "the one that you signed in to last, unless `--url` or `TOUCHSTONE_URL` names another. They print tables "
        "on a terminal and JSON elsewhere; `--table` and `--json` override this. These commands take every "
        "[filter](filters.md) as an option, such as `--domain health` or `--year-min 2015`: "
        f"{code_list(filtering_commands)}.\n\n"
        + format_table(("Command", "What it does"), commands)
        + f"\n{application.epilog}\n"
    )


def _leaf_commands(command: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Yield the full name of a command and the command itself, or those of the commands in a group."""
    if not isinstance(command, TyperGroup):
        yield name, command
        return
    for member_name, member in command.commands.items():
        yield from _leaf_commands(member, f"{name} {member_name}")


def errors_page() -> str:
    """Return the page of errors with their statuses and messages."""
    errors = [(error.status, f"`{error.code}`", *MESSAGES[error.code], error.__doc__) for error in ERRORS]

    return (
        "# Errors\n\n"
        'Every error response is `{"detail": "<one sentence>", "code": "<stable key>", "errors": [{loc, msg, type}]}`. '
        "The sentence is in French, or in English with `Accept-Language: en`. Three sentences are always in French.\n\n"
        + format_table(("Status", "Code", "French", "English", "When"), errors)
    )


def attributes_page() -> str:
    """Return the page of the attributes of a record."""
    attributes = [
        (
            f"`{attribute.name}`",
            attribute.kind.value,
            _describe_bounds(attribute),
            "yes" if attribute.ethical else "",
            attribute.label_en,
        )
        for attribute in ATTRIBUTES
    ]

    return (
        "# Attributes of a dataset\n\n"
        "A flag is true, false (somebody has checked, and it is not the case) or null (not assessed). "
        "Every attribute except the name may be null.\n\n"
        + format_table(("Name", "Kind", "Bounds", "Ethical", "Label"), attributes)
    )


def _describe_bounds(attribute: Attribute) -> str:
    """Return the bounds of a number as a string, or an empty string. Only the year has no fixed maximum."""
    if attribute.minimum is None:
        return ""
    maximum = "next year" if attribute.maximum is None else attribute.maximum
    return f"{attribute.minimum} to {maximum}"


def filters_page() -> str:
    """Return the page of filters and sort keys."""
    filters = [
        (
            f"`{row.parameter.name}`",
            code_list(row.parameter.aliases),
            row.parameter.type.value,
            row.parameter.description,
        )
        for row in FILTERS
    ]

    return (
        "# Filters and sort keys\n\n"
        "The same names work in a query string, under `filters` in the body of a score request, and in the criteria "
        "of a project.\n\n"
        "Filters of the form *words* take a string with commas between the words, a repeated parameter, or a JSON "
        "list. In a string, a comma that belongs to a value is written as `\\,`: `license=Kaggle\\, other` finds "
        "“Kaggle, other”. The values of a repeated parameter or of a list are never split. The pages, the Python "
        "client and the command line send values in this way.\n\n"
        + format_table(("Name", "Other names", "Form", "Matches"), filters)
        + f"\nThe values of `sort_by` are {code_list((*SORT_KEYS, RELEVANCE))}.\n"
    )


def gates_page() -> str:
    """Return the page of the gates."""
    gates = [
        (
            f"`{gate.parameter.name}`",
            code_list(gate.parameter.aliases),
            code_list(gate.parameter.choices) or gate.parameter.type.value,
            gate.parameter.description,
        )
        for gate in GATES
    ]

    return (
        "# Gates\n\n"
        "A gate is a requirement that is kept apart from the score. It changes no score and hides nothing: each item "
        "of a ranking says under `gates` which gates are `passed`, which are `failed` because the dataset is known "
        "not to meet them, and which are `unknown` because too little is known to decide.\n\n"
        "Gates are the member `gates` in the body of `POST /datasets/score`. A project stores them, and its "
        "recommendations apply them:\n\n"
        "```json\n"
        '{"gates": {"informed_consent": "documented", "license": ["CC-BY-*"], "instances_min": 1000}}\n'
        "```\n\n"
        "With `?gate=pass`, the ranking leaves out every dataset that does not pass all gates, and `rank`, `place`, "
        "`tied_with` and the total count only those that do. The default is `?gate=all`.\n\n"
        "The value of a gate for an attribute that must be true is the lowest level of evidence that counts. This "
        "level does not depend on the [assurance](assurance.md) of the request. Gates for numbers use the values at "
        "the assurance of the request. Words, such as the licence, are the same at every assurance.\n\n"
        + format_table(("Name", "Other names", "Value", "Requirement"), gates)
    )


def criteria_page() -> str:
    """Return the page of the twelve criteria and the weight profiles."""
    criteria = [
        (f"`{criterion.name}`", criterion.kind, criterion.label_en, criterion.formula_en) for criterion in CRITERIA
    ]
    profiles = []
    for name, profile in PROFILES.items():
        default_mark = " (default)" if name == DEFAULT_PROFILE else ""
        weights = ", ".join(f"`{criterion}` {weight}" for criterion, weight in profile.weights.items())
        profiles.append((f"`{name}`{default_mark}", weights))

    return (
        "# Criteria and profiles\n\n"
        "`score = sum of weight x criterion / sum of weights`, in float64, with the terms added in this order. An\n"
        "unknown criterion contributes 0, and remains marked as unknown.\n\n"
        + format_table(("Name", "Kind", "Label", "Value"), criteria)
        + "\n"
        + format_table(("Profile", "Weights"), profiles)
        + "\n## The technical score\n\n"
        "The technical score is the sum of these parts. An unknown attribute adds nothing, like a false one.\n\n"
        + format_table(("Part", "Attribute", "Value"), _technical_parts())
        + "\nA [guide](../how-to/reproduce-a-ranking-and-a-training.md#reproduce-the-ranking) computes all criteria "
        "from the record of a\ndataset in a few lines of Python.\n"
    )


def _technical_parts() -> list[tuple[str, str, str]]:
    """Return the rows of the table of the parts of the technical score."""
    documentation, quality, size = f"{DOCUMENTATION_PART}", f"{QUALITY_PART}", f"{SIZE_PART}"
    return [
        ("Documentation", "`metadata_provided_with_dataset`", f"{documentation} if true"),
        ("Documentation", "`external_documentation_available`", f"{documentation} if true"),
        ("Quality", "`missing_values_percentage`", f"{quality} × (100 − missing %) ÷ 100"),
        ("Quality", "`has_missing_values`", f"{quality} if false; counts only if the percentage is unknown"),
        ("Quality", "`is_split`", f"{quality} if true"),
        ("Size", "`instances_number`", f"{size} × (log10(instances) − 2) ÷ 3, with the fraction clamped to 0–1"),
        (
            "Richness",
            "`features_number`",
            f"{size} for 10 to 100 features; {size} × features ÷ 10 for fewer; for more, {size} × "
            "(1 − (features − 100) ÷ 1000), but at least half of it",
        ),
    ]


def codebook_page() -> str:
    """Return the page of the codebook for the ethical criteria."""
    general_rules = [f"- {english}\n" for _, english in GENERAL_RULES]
    criteria = [
        (f"`{rule.name}`", rule.definition[1], rule.when_true[1], rule.when_false[1], rule.not_evidence[1])
        for rule in CODEBOOK.values()
    ]
    header = ("Criterion", "Meaning", "True", "False", "Unknown, although it may look like evidence")

    return (
        "# Codebook of the ethical criteria\n\n"
        "This page says when an ethical criterion is met. The value is what a document shows, not what one may hope. "
        "The extractor and the people who review evidence follow the same rules.\n\n"
        "## Every criterion\n\n" + "".join(general_rules) + "\n## Each criterion\n\n" + format_table(header, criteria)
    )


def routes_page() -> str:
    """Return the page of the public routes, with the summaries of the OpenAPI document."""
    paths = asyncio.run(openapi(Settings()))["paths"]
    routes = [
        (
            route.method,
            f"`{route.path}`",
            code_list(route.aliases),
            "" if route.is_open else "token",
            route.backend or "gateway",
            paths.get(route.path, {}).get(route.method.lower(), {}).get("summary", ""),
        )
        for route in PUBLIC_ROUTES
    ]

    return (
        "# Public routes\n\n"
        "An address with a trailing slash is the same route as without one. Request and response bodies are "
        "described at `/docs` of a running service, and in the output of `touchstone openapi`.\n\n"
        + format_table(("Method", "Path", "Also at", "Needs", "Answered by", "What it does"), routes)
    )


def request_fields(definition: type[Struct], prefix: str = "") -> Iterator[tuple[str, str, str]]:
    """Yield the dotted name, possible values and default of each field of a request, including nested fields."""
    for field in msgspec.structs.fields(definition):
        name = prefix + field.name
        field_type = field.type
        members = [field_type, *get_args(field_type)]
        nested_definition = next(
            (member for member in members if isinstance(member, type) and issubclass(member, Struct)), None
        )
        if nested_definition is not None:
            yield from request_fields(nested_definition, f"{name}.")
            continue

        choices = [member for member in members if isinstance(member, type) and issubclass(member, StrEnum)]
        default = "" if field.required or field.default in (None, ()) else f"`{str(field.default).lower()}`"
        if field.required and not prefix:
            default = "required"
        yield f"`{name}`", code_list(list(choices[0])) if choices else "", default


def _fields_table(request: type[Struct], group: OptionGroup, paths: Mapping[str, tuple[str, ...]]) -> str:
    """Format a table of the fields of a request, with the command-line option of each and its help text."""
    options = {f"`{'.'.join(paths.get(option.name, (option.name,)))}`": option for option in group.options}
    rows = []
    for name, values, default in request_fields(request):
        option = options.get(name)
        flag = f"`--{option.name.replace('_', '-')}`" if option else ""
        meaning = option.help if option else MEANINGS_WITHOUT_OPTION[name.strip("`")]
        rows.append((name, flag, values, default, meaning))
    return format_table(("Field", "Option", "Values", "Default", "Meaning"), rows)


def jobs_page() -> str:
    """Return the page of job states, and of the algorithms, metrics and methods in requests."""
    states = [
        (f"`{state}`", code_list(sorted(next_states)) or "final", "yes" if state in FINAL_STATES else "")
        for state, next_states in MOVES.items()
    ]
    algorithms = [(f"`{algorithm.name}`", algorithm.label[1], algorithm.extra or "") for algorithm in ALGORITHMS]
    metrics = [(f"`{metric.name}`", metric.label[1], metric.task.value) for metric in METRICS]
    methods = [
        (f"`{method.name}`", method.label[1], method.scope.value, "a training job" if method.needs_model else "")
        for method in METHODS
    ]

    sections = (
        "# Jobs\n\nTrainings and explanations run as jobs. These are their states, and the fields of their requests.\n",
        format_table(("State", "May become", "Final"), states),
        "A training has these fields; most are also options of `touchstone train`. See [how rows are divided]"
        "(splits.md), [decisions](decisions-of-models.md), [fairness](fairness.md), [the files of a model]"
        "(model-files.md) and [comparing datasets by training on them](model-comparisons.md).\n",
        _fields_table(TrainingRequest, TRAINING, TRAIN_PATHS),
        "An explanation has these fields; most are also options of `touchstone explain`. See [predictions and "
        "explanations](explanations.md).\n",
        _fields_table(ExplanationRequest, EXPLAINING, EXPLAIN_PATHS),
        format_table(("Algorithm", "Label", "Needs the extra"), algorithms),
        "The page on [metrics](metrics.md) defines these metrics, and shows how to compute them.\n",
        format_table(("Metric", "Label", "Task"), metrics),
        format_table(("Method", "Label", "Scope", "Needs"), methods),
        "A training stores its model in ONNX, too, or `onnx.reason` in its result says why not.\n",
        format_table(("Reason", "Text"), [(f"`{reason}`", text[1]) for reason, text in ONNX_REASONS.items()]),
    )
    return "\n".join(sections)


def exports_page() -> str:
    """Return the page of export formats with the sources of their fields."""
    formats = [
        (
            f"`{export_format.key}`",
            export_format.title,
            f"`{export_format.media_type}`",
            f"`{export_format.suffix}`",
            f"`{export_format.standard}`",
        )
        for export_format in FORMATS.values()
    ]
    sections = [
        f"\n## {export_format.title}\n\n"
        + format_table(
            ("Field", "Made from", "When a document of this standard was imported"),
            (
                (f"`{mapping.field}`", code_list(mapping.sources), "as imported" if mapping.only_if_new else "")
                for mapping in export_format.fields
            ),
        )
        for export_format in FORMATS.values()
    ]

    return (
        "# Exports\n\n"
        "`GET /datasets/{id}/export?format=` writes a record in one of these formats. Each can be imported again.\n\n"
        + format_table(("Format", "Standard", "Media type", "File ends with", "Read as"), formats)
        + "\nA field that is made from attributes of the ethical criteria holds the quotes of the claims about them. "
        "A field that was imported in the same standard is written as it was, unless what it is made from has changed "
        "since. The fields *as imported* are never added to an imported document.\n"
        + "".join(sections)
        + f"\n## The member `{MEMBER}`\n\n"
        "Every format has this member: at the top level of JSON (where readers of JSON-LD see a literal), and in the "
        "YAML head of a card.\n\n"
        + format_table(("Member", "Meaning"), _attribute_meanings(ExactValues))
        + "\nA claim has these members; those that are empty are left out:\n\n"
        + format_table(("Member", "Meaning"), _attribute_meanings(ExportedClaim))
        + "\nClaims read from an exported document are *declared* in the catalog that imports them, whatever their "
        "level was. `measured` is kept, but does not count as a measurement there.\n"
    )


def report_page() -> str:
    """Return the page of the report on a project: its formats, what it states, and the points of law."""
    formats = [
        (f"`{report_format.key}`", f"`{report_format.media_type}`", report_format.title)
        for report_format in REPORT_FORMATS.values()
    ]
    points = [
        (
            f"`{point.key}`",
            LEGAL_POINT_TITLES[point.key][1],
            code_list(point.attributes),
            code_list(part.value for part in point.parts),
        )
        for point in LEGAL_POINTS
    ]
    limitations = [(f"`{limitation.value}`", REPORT_TEXTS[f"limit_{limitation.value}"][1]) for limitation in Limitation]

    return (
        "# Reports\n\n"
        "`GET /projects/{id}/report?format=&lang=fr|en` writes a report on a project: what was chosen and why, on "
        "which evidence, what is unknown, and what would change the choice. Without `lang`, it is in the language that "
        "the request prefers.\n\n"
        + format_table(("Format", "Media type", "For"), formats)
        + "\nThe bytes depend only on the state of the project and of the catalog, so they are the same on a second "
        "run and after the database has been copied.\n\nJSON is `{sha256, report}`, where `sha256` is the digest of "
        "the canonical JSON ([RFC 8785](https://www.rfc-editor.org/rfc/rfc8785)) of `report`. HTML and PDF have the "
        "same digest in their footer, in both languages, beside the version of Touchstone, which it does not cover. "
        "`touchstone project verify-report` computes the digest again from the JSON file, and the last section of a "
        "report says how anybody else can.\n\n"
        "A PDF takes up to a second and uses the fonts that come with the typesetter. Characters that these lack, such "
        "as Chinese ones, are shown as empty boxes.\n"
        + "\n## What a report states\n\n"
        + format_table(("Member of `report`", "Meaning"), _attribute_meanings(ReportContent))
        + "\n## Points of law\n\n"
        "A report goes through the principles of the GDPR (Regulation (EU) 2016/679, article 5, and the rights in "
        "articles 12 to 22) and through article 10(2) of the AI Act (Regulation (EU) 2024/1689). For each point, it "
        "lists what is known about these attributes of the dataset. It says *no evidence* if no quote, measurement or "
        "review supports any of them and no other part of the report is about the point. A report never says that a "
        "requirement is met.\n\n"
        + format_table(("Point", "Title", "Attributes", "Parts of the report"), points)
        + "\n## Limitations\n\n"
        + format_table(("Code", "Sentence"), limitations)
    )


def _attribute_meanings(record_type: type) -> list[tuple[str, str]]:
    """Return the attributes of a class and what its docstring says about each."""
    attributes = inspect.cleandoc(record_type.__doc__ or "").partition("Attributes:\n")[2]
    entries = re.split(r"\n(?=    \w)", attributes)
    meanings = [entry.strip().partition(": ") for entry in entries if entry.strip()]
    return [(code_list(names.split(", ")), " ".join(meaning.split())) for names, _, meaning in meanings]


PAGES: Final[Mapping[str, Callable[[], str]]] = {
    "settings": settings_page,
    "commands": commands_page,
    "errors": errors_page,
    "attributes": attributes_page,
    "filters": filters_page,
    "gates": gates_page,
    "criteria": criteria_page,
    "codebook": codebook_page,
    "exports": exports_page,
    "report": report_page,
    "routes": routes_page,
    "jobs": jobs_page,
}


def main() -> None:
    """Write every page."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, make_page in PAGES.items():
        (FOLDER / f"{name}.md").write_text(make_page())


if __name__ == "__main__":
    main()

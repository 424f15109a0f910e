"""Rules about the structure of the code. Each docstring says what goes wrong without the rule."""

import ast
import functools
import itertools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import touchstone

ROOT = Path(touchstone.__file__).parent

# A package may import the packages in the layers above its own entry, so the lowest layer comes first.
LAYERS = (
    {"core"},
    {"messages"},
    {"database"},
    {"http"},
    {"datafiles", "metadata", "ranking", "learning", "demo"},
    {"jobs"},
    {"client"},
    {"gateway", "selection", "training", "explanation", "web"},
    {"startup"},
    {"cli"},
    {"__main__"},
)
# Lower packages that a package must not import although the layers would allow it.
FORBIDDEN_IMPORTS = {
    "ranking": {"http", "database"},
    "learning": {"http", "database"},
    "datafiles": {"http", "database"},
    "client": {"ranking", "learning", "datafiles", "metadata", "demo", "jobs", "database"},
    # The pages read the tables of algorithms, metrics and methods from `learning`, and the codebook from `metadata`.
    "web": {"ranking", "datafiles", "demo", "jobs", "database"},
    "gateway": {"learning", "datafiles", "metadata", "demo", "client"},
    # Reports on projects read the rows of jobs.
    "selection": {"learning", "client"},
    "training": {"client"},
    "explanation": {"client"},
    "jobs": {"ranking"},
}

MAX_MODULE_LINES = 500
pytestmark = pytest.mark.slow
MAX_FUNCTION_LINES = 60
MAX_PARAMETERS = 5
FRENCH_LETTERS = re.compile(r"[éèêàçùôîûœÉÀ]")

# Packages to which the rules about names and docstrings do not apply yet.
NOT_YET_REWRITTEN: tuple[str, ...] = ()
# An entry of a section, such as "path: the path of the file".
DOCSTRING_ENTRY = re.compile(r" {4}[*\w]+[\w., ]*: (?P<text>\S.*)")
# Entries of docstrings may begin with these words. Words with a second capital, such as SQL, are always allowed.
CAPITALIZED_WORDS = frozenset(
    {
        "Arrow",
        "Croissant",
        "English",
        "False",
        "French",
        "None",
        "Parquet",
        "Pydantic",
        "Python",
        "Ray",
        "True",
        "Typer",
    }
)
VAGUE_NAMES = frozenset({"found", "made", "told", "wanted", "one"})
# First words of docstrings that describe a function's result instead of saying what it does.
NOT_IMPERATIVE = frozenset(
    {
        "a", "an", "as", "every", "false", "how", "it", "its", "none", "nothing", "raises", "returns", "that", "the",
        "this", "those", "true", "what", "whatever", "when", "where", "whether", "which", "who", "whom", "whose", "why",
    }
)  # fmt: skip

Module = tuple[Path, ast.Module]
Function = ast.FunctionDef | ast.AsyncFunctionDef


@functools.cache
def all_modules() -> tuple[Module, ...]:
    """Return every module of the package with its syntax tree."""
    return tuple((path.relative_to(ROOT), ast.parse(path.read_text())) for path in sorted(ROOT.rglob("*.py")))


def maintained_modules() -> list[Module]:
    """Return every module except the migrations, which stay as they were generated."""
    return [(path, tree) for path, tree in all_modules() if "versions" not in path.parts]


def rewritten_modules() -> list[Module]:
    """Return the modules to which the rules about names and docstrings apply already."""
    return [(path, tree) for path, tree in maintained_modules() if not str(path).startswith(NOT_YET_REWRITTEN)]


def package_of(path: Path) -> str:
    """Return the package that a module belongs to; each service is a package of its own."""
    parts = path.parts[1:] if path.parts[0] == "services" and len(path.parts) > 2 else path.parts
    return parts[0].removesuffix(".py")


def layer_of(package: str) -> int:
    """Return the index of a package's layer."""
    return next(index for index, packages in enumerate(LAYERS) if package in packages)


def imported_names(tree: ast.AST) -> Iterator[str]:
    """Yield every module and every member that a piece of code imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def imported_packages(path: Path, tree: ast.Module) -> set[str]:
    """Return the other packages of ours that a module imports."""
    prefix = "touchstone."
    names = [name.removeprefix(prefix) for name in imported_names(tree) if name.startswith(prefix)]
    packages = {name.removeprefix("services.").split(".")[0] for name in names}
    return {name for name in packages if any(name in layer for layer in LAYERS)} - {package_of(path)}


def imported_modules(tree: ast.Module, known: set[str]) -> set[str]:
    """Return the known modules that a module imports; `from package import module` imports the module."""
    modules = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            members = {f"{node.module}.{alias.name}" for alias in node.names}
            modules |= members & known or {node.module or ""}
    return modules & known


def functions_in(tree: ast.AST) -> Iterator[Function]:
    """Yield every function and method."""
    return (node for node in ast.walk(tree) if isinstance(node, Function))


def count_body_lines(function: Function) -> int:
    """Return the number of lines of a function without its signature and docstring."""
    body = function.body
    if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        body = body[1:] or body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1


def docstring_entries(tree: ast.AST) -> Iterator[str]:
    """Yield the text of each argument, attribute, result and error that a docstring describes."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(tree):
        docstring = (ast.get_docstring(node) if isinstance(node, documented) else None) or ""
        sections = re.split(r"^(Args|Attributes|Raises|Returns|Yields):\n", docstring, flags=re.MULTILINE)
        for title, section in zip(sections[1::2], sections[2::2], strict=True):
            lines = list(itertools.takewhile(lambda line: not line or line.startswith("    "), section.split("\n")))
            if title in ("Returns", "Yields"):
                yield lines[0].strip()
            else:
                yield from (entry["text"] for line in lines if (entry := DOCSTRING_ENTRY.fullmatch(line)))


def string_constants(tree: ast.Module) -> Iterator[ast.Constant]:
    """Yield every string that is not a docstring."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, documented) and node.body and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node


def test_imports_point_downwards() -> None:
    """A package that imports its neighbours cannot be read, tested or deployed without them."""
    violations = [
        f"{path} imports {target}"
        for path, tree in all_modules()
        if package_of(path) != "__init__"
        for target in imported_packages(path, tree)
        if layer_of(target) >= layer_of(package_of(path)) or target in FORBIDDEN_IMPORTS.get(package_of(path), ())
    ]
    assert violations == []


def test_there_are_no_import_cycles() -> None:
    """A cycle works until somebody imports its other end first."""
    module_names = {path: ".".join(("touchstone", *path.with_suffix("").parts)) for path, _ in all_modules()}
    module_names = {path: name.removesuffix(".__init__") for path, name in module_names.items()}
    known = set(module_names.values())
    imports = {module_names[path]: imported_modules(tree, known) for path, tree in all_modules()}
    visited: set[str] = set()

    def visit(name: str, trail: tuple[str, ...]) -> None:
        assert name not in trail, f"cycle: {' -> '.join((*trail[trail.index(name) :], name))}"
        if name not in visited:
            for target in imports[name] - {name}:
                visit(target, (*trail, name))
            visited.add(name)

    for name in imports:
        visit(name, ())


def test_own_modules_are_imported_at_the_top() -> None:
    """An import inside a function hides a dependency and moves its failure to a request."""
    violations = [
        f"{path}:{function.lineno}"
        for path, tree in all_modules()
        for function in functions_in(tree)
        if any(name.startswith("touchstone") for statement in function.body for name in imported_names(statement))
    ]
    assert violations == []


def test_sql_is_written_in_stores_only() -> None:
    """Queries in routes tend to forget the owner, the version or the transaction."""
    sql_libraries = ("sqlalchemy", "alembic", "aiosqlite", "psycopg")
    violations = [
        str(path)
        for path, tree in maintained_modules()
        if any(name.split(".")[0] in sql_libraries for name in imported_names(tree))
        and not str(path).startswith("database/")
        and not path.stem.startswith("store")
        and not path.stem.endswith("_store")
    ]
    assert violations == []


def test_databases_are_named_in_their_own_modules() -> None:
    """Code that knows which database it runs on has been tested on one of them only."""
    database_names = re.compile(r"\b(sqlite|postgresql|psycopg|aiosqlite)\b", re.IGNORECASE)
    allowed = {"database/sqlite.py", "database/postgresql.py", "core/settings.py"}
    violations = [
        f"{path}:{constant.lineno}"
        for path, tree in maintained_modules()
        if str(path) not in allowed
        for constant in string_constants(tree)
        if database_names.search(str(constant.value))
    ]
    assert violations == []


def test_http_statuses_of_errors_are_chosen_in_core_errors() -> None:
    """A status chosen in a handler drifts from the one that the documentation and the client know."""
    violations = [
        f"{path}:{node.lineno}"
        for path, tree in maintained_modules()
        if str(path) != "core/errors.py"
        for node in ast.walk(tree)
        if isinstance(node, ast.Raise) and node.exc is not None and "HTTPException" in ast.dump(node.exc)
    ]
    assert violations == []


def test_french_is_written_in_messages_only() -> None:
    """A sentence outside `messages` has no translation."""
    # `core/text_encoding.py` lists the letters of many languages.
    allowed = (
        *("messages", "core/attributes.py", "core/text_encoding.py"),
        *("ranking/criteria.py", "ranking/weight_profiles.py"),
    )
    violations = [
        f"{path}:{constant.lineno}: {str(constant.value)[:40]}"
        for path, tree in maintained_modules()
        if not str(path).startswith(allowed)
        for constant in string_constants(tree)
        if FRENCH_LETTERS.search(str(constant.value))
    ]
    assert violations == []


def test_modules_and_functions_stay_within_their_limits() -> None:
    """Nobody reads all of a very long function or module before changing it."""
    long_modules = [
        str(path) for path, _ in maintained_modules() if len((ROOT / path).read_text().splitlines()) > MAX_MODULE_LINES
    ]
    long_functions = [
        f"{path}:{function.name}"
        for path, tree in maintained_modules()
        for function in functions_in(tree)
        if count_body_lines(function) > MAX_FUNCTION_LINES
    ]
    assert long_modules == []
    assert long_functions == []


def test_functions_take_few_parameters() -> None:
    """A long list of parameters is an object without a name."""
    violations = []
    for path, tree in maintained_modules():
        for function in functions_in(tree):
            arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
            count = len([argument for argument in arguments if argument.arg not in ("self", "cls")])
            if count > MAX_PARAMETERS:
                violations.append(f"{path}:{function.lineno} {function.name}({count})")
    assert violations == []


def test_public_names_are_documented() -> None:
    """Only its author understands a name without a docstring, and only for a month."""
    violations = []
    for path, tree in maintained_modules():
        if ast.get_docstring(tree) is None:
            violations.append(str(path))
        for node in tree.body:
            if not isinstance(node, ast.ClassDef | Function) or node.name.startswith("_"):
                continue
            members = node.body if isinstance(node, ast.ClassDef) else []
            violations += [
                f"{path}:{definition.lineno} {definition.name}"
                for definition in (node, *members)
                if isinstance(definition, ast.ClassDef | Function)
                and not definition.name.startswith("_")
                and ast.get_docstring(definition) is None
            ]
    assert violations == []


def test_docstrings_of_functions_begin_with_an_imperative_verb() -> None:
    """Docstrings are read fastest if all of them are written in the same form. Properties are named like values."""
    violations = []
    for path, tree in rewritten_modules():
        for function in functions_in(tree):
            is_property = any("property" in ast.dump(decorator) for decorator in function.decorator_list)
            docstring = ast.get_docstring(function)
            if is_property or docstring is None:
                continue
            first_word = re.split(r"\W", docstring.lower(), maxsplit=1)[0]
            if first_word in NOT_IMPERATIVE:
                violations.append(f"{path}:{function.lineno} {function.name}: {docstring[:40]}")
    assert violations == []


def test_entries_of_docstrings_begin_with_a_small_letter() -> None:
    """Two styles side by side look careless, and every author would have to choose between them again."""
    violations = []
    for path, tree in maintained_modules():
        for entry in docstring_entries(tree):
            first_word = re.split(r"\W", entry, maxsplit=1)[0]
            is_capitalized = first_word[:1].isupper() and first_word[1:] == first_word[1:].lower()
            if is_capitalized and first_word not in CAPITALIZED_WORDS:
                violations.append(f"{path}: {entry[:60]}")
    assert violations == []


def test_variables_are_named_after_what_they_hold() -> None:
    """A name such as `found` says how a value was obtained, but not what it is."""
    violations = [
        f"{path}:{node.lineno} {node.id}"
        for path, tree in rewritten_modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in VAGUE_NAMES
    ]
    assert violations == []


def test_every_service_has_the_same_modules() -> None:
    """Whoever knows one service finds their way in the others."""
    # The jobs and the schemas of their requests are in jobs/.
    optional = {"services/training": {"store"}, "services/explanation": {"store", "schemas"}}
    for service in ("services/selection", "services/training", "services/explanation", "services/gateway"):
        # A service with several subjects has routes and stores for each of them, such as `auth_routes.py`.
        module_kinds = {path.stem.rpartition("_")[2] for path in (ROOT / service).rglob("*.py")}
        missing = {"app", "routes", "schemas", "store"} - module_kinds
        assert missing <= optional.get(service, set()), service


@pytest.mark.parametrize("name", ["utils", "helpers", "service", "common", "misc", "base"])
def test_modules_have_specific_names(name: str) -> None:
    """A module named after nothing in particular attracts everything."""
    assert [str(path) for path, _ in all_modules() if path.stem == name] == []


def test_no_module_uses_base_http_middleware() -> None:
    """BaseHTTPMiddleware costs more than the work of a hot request."""
    violations = [
        str(path) for path, tree in all_modules() if any("BaseHTTPMiddleware" in name for name in imported_names(tree))
    ]
    assert violations == []


def test_there_are_no_notes_of_work_to_do() -> None:
    """A note in the code is an issue that nobody sees."""
    marks = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
    assert [str(path) for path, _ in all_modules() if marks.search((ROOT / path).read_text())] == []

"""The rules that keep the house: each test says what goes wrong without it."""

import ast
import functools
import re
import statistics
from collections.abc import Iterator
from pathlib import Path

import pytest

import touchstone

ROOT = Path(touchstone.__file__).parent
LAYERS = (
    {"messages"},
    {"core"},
    {"database"},
    {"http"},
    {"datafiles", "metadata", "ranking", "learning", "demo"},
    {"jobs"},
    {"client"},
    {"gateway", "selection", "training", "explanation", "web"},
    {"compose"},
    {"cli"},
    {"__main__"},
)
# Packages on one layer never import one another, and these do not import some of the packages below them either.
FORBIDDEN = {
    "ranking": {"http", "database"},
    "learning": {"http", "database"},
    "datafiles": {"http", "database"},
    "client": {"ranking", "learning", "datafiles", "metadata", "demo", "jobs", "database"},
    # The pages read the tables of algorithms, metrics and methods from `learning`.
    "web": {"ranking", "datafiles", "metadata", "demo", "jobs", "database"},
    "gateway": {"learning", "datafiles", "metadata", "demo", "client"},
    "selection": {"learning", "jobs", "client"},
    "training": {"client"},
    "explanation": {"client"},
    "jobs": {"ranking"},
}
MAX_MODULE_LINES = 500
MAX_FUNCTION_LINES = 60
MAX_MEDIAN_LINES = 8
MAX_PARAMETERS = 5
FRENCH = re.compile(r"[éèêàçùôîûœÉÀ]")

Module = tuple[Path, ast.Module]


@functools.cache
def modules() -> tuple[Module, ...]:
    return tuple((path.relative_to(ROOT), ast.parse(path.read_text())) for path in sorted(ROOT.rglob("*.py")))


def written() -> list[Module]:
    """Every module but migrations, which are frozen as they were generated."""
    return [(path, tree) for path, tree in modules() if "versions" not in path.parts]


def room(path: Path) -> str:
    parts = path.parts[1:] if path.parts[0] == "services" and len(path.parts) > 2 else path.parts
    return parts[0].removesuffix(".py")


def imports(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def body_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    body = function.body
    if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        body = body[1:] or body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1


def level(name: str) -> int:
    return next(i for i, rooms in enumerate(LAYERS) if name in rooms)


def own_imports(path: Path, tree: ast.Module) -> set[str]:
    ours = [name.removeprefix("touchstone.") for name in imports(tree) if name.startswith("touchstone.")]
    names = [name.removeprefix("services.") for name in ours]
    packages = {name.split(".")[0] for name in names}
    return {name for name in packages if any(name in layer for layer in LAYERS)} - {room(path)}


def test_imports_go_down_only() -> None:
    """A room that reaches up or sideways cannot be read, tested or deployed without its neighbours."""
    wrong = [
        f"{path} imports {target}"
        for path, tree in modules()
        if room(path) != "__init__"
        for target in own_imports(path, tree)
        if level(target) >= level(room(path)) or target in FORBIDDEN.get(room(path), ())
    ]
    assert wrong == []


def test_no_import_cycles_between_modules() -> None:
    """A cycle works until someone imports its other end first."""
    names = {".".join(("touchstone", *path.with_suffix("").parts)).removesuffix(".__init__") for path, _ in modules()}
    graph = {
        ".".join(("touchstone", *path.with_suffix("").parts)).removesuffix(".__init__"): targets(tree, names)
        for path, tree in modules()
    }
    done: set[str] = set()

    def visit(name: str, trail: tuple[str, ...]) -> None:
        assert name not in trail, f"cycle: {' -> '.join((*trail[trail.index(name) :], name))}"
        if name not in done:
            for target in graph[name] - {name}:
                visit(target, (*trail, name))
            done.add(name)

    for name in graph:
        visit(name, ())


def targets(tree: ast.Module, names: set[str]) -> set[str]:
    """The modules that a module needs: `from package import module` needs the module, not its package."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            members = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= members & names or {node.module or ""}
    return found & names


def test_our_own_code_is_imported_at_the_top() -> None:
    """An import inside a function hides an edge of the house and moves its failure to a request."""
    wrong = [
        f"{path}:{function.lineno}"
        for path, tree in modules()
        for function in functions(tree)
        if any(name.startswith("touchstone") for statement in function.body for name in imports(statement))
    ]
    assert wrong == []


def test_sql_is_spoken_in_stores_only() -> None:
    """Queries that wander into routes forget the owner, the version or the transaction."""
    wrong = [
        str(path)
        for path, tree in written()
        if any(name.split(".")[0] in ("sqlalchemy", "alembic", "aiosqlite", "psycopg") for name in imports(tree))
        and path.parts[0] != "database"
        and not path.stem.startswith("store")
        and not path.stem.endswith("_store")
    ]
    assert wrong == []


def test_databases_are_named_in_their_own_modules() -> None:
    """Code that knows which database it runs on is code that was tested on one of them."""
    names = re.compile(r"\b(sqlite|postgresql|psycopg|aiosqlite)\b", re.IGNORECASE)
    allowed = {"database/sqlite.py", "database/postgresql.py", "core/settings.py"}
    wrong = [
        f"{path}:{node.lineno}"
        for path, tree in written()
        if str(path) not in allowed
        for node in sentences(tree)
        if names.search(str(node.value))
    ]
    assert wrong == []


def sentences(tree: ast.Module) -> Iterator[ast.Constant]:
    """Every text in the code that is not a docstring."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, documented) and node.body and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node


def test_refusals_have_their_status_in_one_module() -> None:
    """A status chosen in a handler drifts from the one that the documentation and the client know."""
    wrong = [
        f"{path}:{node.lineno}"
        for path, tree in written()
        if str(path) != "core/errors.py"
        for node in ast.walk(tree)
        if isinstance(node, ast.Raise) and node.exc is not None and "HTTPException" in ast.dump(node.exc)
    ]
    assert wrong == []


def test_french_is_written_in_the_messages_only() -> None:
    """A sentence outside the catalog has no translation."""
    allowed = (
        "messages",
        "core/attributes.py",
        "ranking/criteria.py",
        "ranking/weight_profiles.py",
    )
    wrong = [
        f"{path}:{node.lineno}: {str(node.value)[:40]}"
        for path, tree in written()
        if not str(path).startswith(allowed)
        for node in sentences(tree)
        if FRENCH.search(str(node.value))
    ]
    assert wrong == []


def test_modules_and_functions_stay_small() -> None:
    """What does not fit on a screen is not read before it is changed."""
    long_modules = [
        f"{path}: {lines}"
        for path, _ in written()
        if (lines := len((ROOT / path).read_text().splitlines())) > MAX_MODULE_LINES
    ]
    sizes = {
        f"{path}:{function.name}": body_lines(function) for path, tree in written() for function in functions(tree)
    }
    assert long_modules == []
    assert {name: size for name, size in sizes.items() if size > MAX_FUNCTION_LINES} == {}
    assert statistics.median(sizes.values()) <= MAX_MEDIAN_LINES


def test_functions_take_few_parameters() -> None:
    """A long parameter list is an object that nobody has named."""
    wrong = []
    for path, tree in written():
        for function in functions(tree):
            positional = [
                a.arg for a in (*function.args.posonlyargs, *function.args.args) if a.arg not in ("self", "cls")
            ]
            total = len(positional) + len(function.args.kwonlyargs)
            if total > MAX_PARAMETERS:
                wrong.append(f"{path}:{function.lineno} {function.name}({total})")
    assert wrong == []


def test_public_names_are_documented() -> None:
    """A name without a sentence is understood by its author, for a month."""
    wrong = []
    for path, tree in written():
        if ast.get_docstring(tree) is None:
            wrong.append(str(path))
        for node in tree.body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                public = [node, *(node.body if isinstance(node, ast.ClassDef) else ())]
                wrong += [
                    f"{path}:{one.lineno} {one.name}"
                    for one in public
                    if isinstance(one, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
                    and not node.name.startswith("_")
                    and not one.name.startswith("_")
                    and ast.get_docstring(one) is None
                ]
    assert wrong == []


def test_every_backend_has_the_same_files() -> None:
    """Learn one backend, know them all."""
    for backend in ("services/selection", "services/training", "services/explanation", "services/gateway"):
        missing = {"app.py", "routes.py", "schemas.py", "store.py"} - {p.name for p in (ROOT / backend).rglob("*.py")}
        assert missing <= ({"store.py"} if backend.endswith(("training", "explanation")) else set()), backend


@pytest.mark.parametrize("name", ["utils", "helpers", "service", "common", "misc", "base"])
def test_modules_are_named_after_what_they_do(name: str) -> None:
    """A room named after nothing fills with everything."""
    assert [str(path) for path, _ in modules() if path.stem == name] == []


def test_no_blocking_middleware_or_dependencies() -> None:
    """BaseHTTPMiddleware and synchronous dependencies each cost more than the work of a hot request."""
    wrong = [str(path) for path, tree in modules() if any("BaseHTTPMiddleware" in name for name in imports(tree))]
    assert wrong == []


def test_nothing_is_left_to_do() -> None:
    """A note in the code is an issue that nobody sees."""
    marks = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
    assert [str(path) for path, _ in modules() if marks.search((ROOT / path).read_text())] == []

"""The list of packages, with their exact versions, that a stored model needs to predict."""

import platform
from collections.abc import Iterable
from importlib import metadata
from typing import Final

import skops.io
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ALWAYS_NEEDED: Final = ("numpy", "pandas", "scikit-learn", "skops")
NEEDED_BY_SOME_MODELS: Final = ("lightgbm", "skrub")  # Their modules have the same name.


def environment_txt(model: bytes) -> bytes:
    """Return a file for `pip install --requirement`, from which an environment for `example.py` is made.

    It also pins what the packages themselves need, so that the environment stays the same for years. `model` is the
    content of the model file.
    """
    pins = [f"{name}=={metadata.version(name)}" for name in sorted(_with_requirements(_packages_of(model)))]
    lines = [f"# Python {platform.python_version()}", *pins]
    return ("\n".join(lines) + "\n").encode()


def _packages_of(model: bytes) -> list[str]:
    """Return the names of the packages whose classes a model consists of, and of those that load it."""
    types = skops.io.get_untrusted_types(data=model)
    modules = {type_name.partition(".")[0] for type_name in types}
    return [*ALWAYS_NEEDED, *(name for name in NEEDED_BY_SOME_MODELS if name in modules)]


def _with_requirements(names: Iterable[str]) -> set[str]:
    """Return the names of packages together with those of all packages that they need on this platform."""
    needed: set[str] = set()
    waiting = [canonicalize_name(name) for name in names]
    while waiting:
        name = waiting.pop()
        if name in needed:
            continue

        needed.add(name)
        requirements = [Requirement(text) for text in metadata.requires(name) or ()]
        waiting += [canonicalize_name(requirement.name) for requirement in requirements if _applies(requirement)]
    return needed


def _applies(requirement: Requirement) -> bool:
    """Return whether a requirement applies to this platform, without any optional extra."""
    return requirement.marker is None or requirement.marker.evaluate({"extra": ""})

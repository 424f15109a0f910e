"""The packages, with their exact versions, that a stored model needs to predict."""

import platform
from collections.abc import Iterable
from importlib import metadata
from typing import Final

import skops.io
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ALWAYS_NEEDED: Final = ("numpy", "pandas", "scikit-learn", "skops")
NEEDED_BY_SOME_MODELS: Final = ("lightgbm", "skrub")  # The module names are the same.


def environment_txt(model: bytes) -> bytes:
    """Return a requirements file for an environment that can run `example.py`.

    All indirect requirements are pinned as well, so that the environment can be reproduced years later. `model` is the
    content of the model file.
    """
    pins = [f"{name}=={metadata.version(name)}" for name in sorted(_with_requirements(_find_direct_packages(model)))]
    lines = [f"# Python {platform.python_version()}", *pins]
    return ("\n".join(lines) + "\n").encode()


def _find_direct_packages(model: bytes) -> list[str]:
    """Return the names of the packages needed to load a model and to use its classes."""
    types = skops.io.get_untrusted_types(data=model)
    modules = {type_name.partition(".")[0] for type_name in types}
    return [*ALWAYS_NEEDED, *(name for name in NEEDED_BY_SOME_MODELS if name in modules)]


def _with_requirements(names: Iterable[str]) -> set[str]:
    """Return the given package names and the names of everything they require on this platform."""
    required: set[str] = set()
    pending = [canonicalize_name(name) for name in names]
    while pending:
        name = pending.pop()
        if name in required:
            continue

        required.add(name)
        requirements = [Requirement(line) for line in metadata.requires(name) or ()]
        pending += [canonicalize_name(requirement.name) for requirement in requirements if _applies(requirement)]
    return required


def _applies(requirement: Requirement) -> bool:
    """Return whether a requirement applies to this platform without any extra."""
    return requirement.marker is None or requirement.marker.evaluate({"extra": ""})

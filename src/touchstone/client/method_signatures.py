"""Signatures of client methods, for `help` and for the completion of arguments in notebooks."""

import inspect
from collections.abc import Callable
from types import NoneType
from typing import Any, get_args


def copy_signature(describe_call: Callable[..., Any], method: Callable[..., Any], class_name: str) -> None:
    """Make a client method look as if it were written by hand.

    The method gets the name and the parameters of the function that describes its call, after a parameter `self`. While
    this function returns a `Call`, the method returns the result of the call. Without an explicit signature, `inspect`
    would show that of the function, and drop its first parameter as `self`.

    Args:
        describe_call: the function that describes the call.
        method: the method to change.
        class_name: the name of the class to which the method belongs.
    """
    signature = inspect.signature(describe_call)
    client_parameter = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    (result_type,) = get_args(signature.return_annotation)

    method.__qualname__ = f"{class_name}.{describe_call.__name__}"
    method.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[client_parameter, *signature.parameters.values()],
        return_annotation=None if result_type is NoneType else result_type,
    )

"""A builder for graphs of ONNX operators.

Everything is computed with 64-bit numbers as in scikit-learn. With 32 bits, a row exactly on the threshold of a tree
could take the other branch.

The package `onnx` is optional, so it is imported by name when a graph is serialized. Its messages have no types.
"""

import importlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

# Versions that are supported by runtimes of several years.
OPERATORS_VERSION: Final = 17
ML_OPERATORS_VERSION: Final = 3
FORMAT_VERSION: Final = 8
ML_DOMAIN: Final = "ai.onnx.ml"  # the domain of operators for trees and categories
PRODUCER: Final = "Touchstone"

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Node:
    """One operator with the names of its input values and of its single output value."""

    operator: str
    inputs: tuple[str, ...]
    output: str
    domain: str = ""
    attributes: Mapping[str, Any] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class Port:
    """An input or an output of the whole graph.

    The size of an axis in `shape` is None if it is the number of rows.
    """

    name: str
    element_type: npt.DTypeLike
    shape: tuple[int | None, ...]


class Graph:
    """The operators, constants, inputs and outputs of a graph."""

    def __init__(self, inputs: Sequence[Port]) -> None:
        self._inputs = list(inputs)
        self._outputs: list[Port] = []
        self._constants: dict[str, Array] = {}
        self._nodes: list[Node] = []
        self._names = {port.name for port in inputs}

    def constant(self, values: npt.ArrayLike, dtype: npt.DTypeLike = np.float64) -> str:
        """Add a constant, and return its name."""
        name = self._new_name("constant")
        self._constants[name] = np.asarray(values, dtype=dtype)
        return name

    def apply(self, operator: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """Add an operator that is applied to named values, and return the name of its output."""
        output = self._new_name(operator.lower())
        self._nodes.append(Node(operator, inputs, output, domain, attributes))
        return output

    def cast(self, value: str, dtype: npt.DTypeLike) -> str:
        """Convert a value to another type of elements, and return the name of the result."""
        return self.apply("Cast", value, to=_element_type(dtype))

    def add_output(self, name: str, value: str, dtype: npt.DTypeLike, shape: tuple[int | None, ...]) -> str:
        """Make a value an output, and return the unique name of the output."""
        output_name = name
        while output_name in self._names:
            output_name += "_"

        self._names.add(output_name)
        self._nodes.append(Node("Identity", (value,), output_name))
        self._outputs.append(Port(output_name, dtype, shape))
        return output_name

    def serialize(self, properties: Mapping[str, Any]) -> bytes:
        """Return the content of an ONNX file with the graph and the properties, which are encoded as JSON."""
        helper = importlib.import_module("onnx.helper")
        numpy_helper = importlib.import_module("onnx.numpy_helper")

        nodes = [_encode_node(node) for node in self._nodes]
        constants = [numpy_helper.from_array(values, name) for name, values in self._constants.items()]
        inputs = [_encode_port(port) for port in self._inputs]
        outputs = [_encode_port(port) for port in self._outputs]
        graph = helper.make_graph(nodes, "model", inputs, outputs, initializer=constants)

        versions = [helper.make_opsetid("", OPERATORS_VERSION), helper.make_opsetid(ML_DOMAIN, ML_OPERATORS_VERSION)]
        model = helper.make_model(graph, opset_imports=versions, ir_version=FORMAT_VERSION, producer_name=PRODUCER)
        encoded_properties = {name: json.dumps(value, ensure_ascii=False) for name, value in properties.items()}
        helper.set_model_props(model, encoded_properties)

        return bytes(model.SerializeToString(deterministic=True))

    def _new_name(self, stem: str) -> str:
        """Return an unused name. Inputs are named after the columns of the table, so any name may be taken."""
        number = len(self._names)
        while f"{stem}:{number}" in self._names:
            number += 1

        name = f"{stem}:{number}"
        self._names.add(name)
        return name


def _encode_node(node: Node) -> Any:
    """Convert an operator to its ONNX message. Attributes that are arrays become tensors."""
    helper = importlib.import_module("onnx.helper")
    numpy_helper = importlib.import_module("onnx.numpy_helper")

    attributes = {
        name: numpy_helper.from_array(value, name) if isinstance(value, np.ndarray) else value
        for name, value in node.attributes.items()
    }
    return helper.make_node(node.operator, list(node.inputs), [node.output], domain=node.domain, **attributes)


def _encode_port(port: Port) -> Any:
    """Convert an input or an output to its ONNX message."""
    helper = importlib.import_module("onnx.helper")
    return helper.make_tensor_value_info(port.name, _element_type(port.element_type), port.shape)


def _element_type(dtype: npt.DTypeLike) -> int:
    """Return the ONNX number of an element type. Strings have the NumPy type object."""
    helper = importlib.import_module("onnx.helper")
    return int(helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))

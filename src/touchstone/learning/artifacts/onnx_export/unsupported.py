"""The error for a model that has no equivalent in ONNX."""


class NotInOnnx(Exception):
    """A part of a model that cannot be converted to ONNX.

    Attributes:
        reason: the key of the message for users.
        facts: the values of the placeholders in the message.
    """

    def __init__(self, reason: str, **facts: str | int) -> None:
        super().__init__(reason, facts)
        self.reason = reason
        self.facts = facts

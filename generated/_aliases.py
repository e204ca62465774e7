"""The names `<server>__<tool>`, for type checkers."""

__all__: list[str] = []  # There are none.

"""Names of `typing` that CPython 3.9 does not have yet. Type checkers see the real ones everywhere."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TypeVar

if sys.version_info >= (3, 11):
    from typing import NotRequired as NotRequired
elif TYPE_CHECKING:
    from typing_extensions import NotRequired as NotRequired
else:

    class NotRequired:
        """Stands in: the key's own type is left."""

        def __class_getitem__(cls, item: Any) -> Any:
            return item


if sys.version_info >= (3, 10):
    from typing import ParamSpec as ParamSpec
elif TYPE_CHECKING:
    from typing_extensions import ParamSpec as ParamSpec
else:
    # Enough for Generic, which is all that the running program asks of it.
    ParamSpec = TypeVar

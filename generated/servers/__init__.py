"""The MCP servers of the hub.
"""

from typing import TYPE_CHECKING

from .._package import open_servers

__all__: list[str] = []  # There are none.
open_servers(__name__)

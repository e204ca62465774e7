"""What the searches of two other programs find. Takes {tools, questions} as JSON on stdin, prints names by peer, best first."""

import asyncio
import json
import sys
from types import SimpleNamespace

from agent_codemode.discovery.registry import ToolRegistry
from agent_codemode.types import ToolDefinition
from fastmcp.server.transforms.search.bm25 import BM25SearchTransform

LIMIT = 10


async def main() -> None:
    given = json.load(sys.stdin)
    registry = ToolRegistry()
    documents = []
    names = {}
    for server, tools in given["tools"].items():
        registry._tools_by_server[server] = []
        for tool in tools:
            whole = f"{server}__{tool['name']}"
            about = tool.get("description") or ""
            registry._tools_by_server[server].append(whole)
            registry._tools[whole] = ToolDefinition(name=whole, description=about, input_schema=tool["inputSchema"], server_name=server)
            # A server that FastMCP mounts has its name before those of its tools.
            mounted = f"{server}_{tool['name']}"
            documents.append(SimpleNamespace(name=mounted, description=about, parameters=tool["inputSchema"]))
            names[whole] = names[mounted] = f"{server}.{tool['name']}"
    transform = BM25SearchTransform(max_results=LIMIT)
    found = {"agent-codemode": [], "FastMCP": []}
    for question in given["questions"]:
        hits = await registry.search_tools(question, limit=LIMIT)
        found["agent-codemode"].append([names[tool.name] for tool in hits.tools])
        found["FastMCP"].append([names[tool.name] for tool in await transform._search(documents, question)])
    json.dump(found, sys.stdout)


asyncio.run(main())

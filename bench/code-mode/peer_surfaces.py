"""What two other programs have a model read before it writes code. Takes {tools, tasks} as JSON on stdin, prints texts by program."""

import asyncio
import json
import sys

import agent_codemode.server as codemode
from agent_codemode.discovery.registry import ToolRegistry
from agent_codemode.types import ToolDefinition
from fastmcp.experimental.transforms.code_mode import CodeMode, GetSchemas, Search
from fastmcp.tools.base import Tool


def shown(tool):
    """Only what hosts hand to models."""
    parameters = tool.parameters if hasattr(tool, "parameters") else tool.input_schema
    return {"name": tool.name, "description": tool.description, "inputSchema": parameters}


async def fastmcp(tools, tasks):
    catalog = []
    for server, listed in tools.items():
        for tool in listed:
            about = {"description": tool.get("description"), "parameters": tool["inputSchema"], "output_schema": tool.get("outputSchema")}
            # A server that FastMCP mounts has its name before those of its tools.
            catalog.append(Tool(name=f"{server}_{tool['name']}", **about))

    async def get_catalog(_):
        return catalog

    search, schemas = Search()(get_catalog), GetSchemas()(get_catalog)
    read = []
    for task in tasks:
        names = [use.replace(".", "_", 1) for use in task["uses"]]
        calls = [("search", {"query": query}, await search.fn(query=query)) for query in task["queries"]]
        found = "\n".join(text for _, _, text in calls)
        calls.append(("get_schema", {"tools": names}, await schemas.fn(tools=names)))
        read.append({"calls": calls, "missing": [name for name in names if f"- {name}" not in found]})
    return {"list": [shown(tool) for tool in await CodeMode().transform_tools(catalog)], "read": read}


async def agent_codemode(tools, tasks):
    registry = ToolRegistry()
    for server, listed in tools.items():
        registry._tools_by_server[server] = []
        for tool in listed:
            whole = f"{server}__{tool['name']}"
            schemas = {"input_schema": tool["inputSchema"], "output_schema": tool.get("outputSchema")}
            registry._tools_by_server[server].append(whole)
            registry._tools[whole] = ToolDefinition(name=whole, description=tool.get("description") or "", server_name=server, **schemas)
    codemode.configure(registry=registry)
    read = []
    for task in tasks:
        names = [use.replace(".", "__", 1) for use in task["uses"]]
        answers = [(query, await codemode.handle_search_tools({"query": query})) for query in task["queries"]]
        found = {tool["name"] for _, answer in answers for tool in answer["tools"]}
        calls = [("search_tools", {"query": query}, json.dumps(answer, indent=2)) for query, answer in answers]
        # Its search gives the schemas already: details are asked for only of what was not found.
        for name in names:
            if name not in found:
                details = await codemode.handle_get_tool_details({"tool_name": name})
                calls.append(("get_tool_details", {"tool_name": name}, json.dumps(details, indent=2)))
        read.append({"calls": calls, "missing": [name for name in names if name not in found]})
    # As its server lists them: direct calls are off by default.
    return {"list": [shown(tool) for tool in codemode.TOOLS if tool.name != "call_tool"], "read": read}


async def main():
    given = json.load(sys.stdin)
    of = (given["tools"], given["tasks"])
    json.dump({"agent-codemode": await agent_codemode(*of), "FastMCP": await fastmcp(*of)}, sys.stdout)


asyncio.run(main())

"""Imports every module of the package `generated` in the working directory, and calls every tool through a caller that writes
down what it got. Prints, for each tool, the wire names that reached it. Any Python, nothing installed."""

import importlib
import inspect
import json
import sys
import typing
import warnings
from pathlib import Path

sys.path.insert(0, ".")
warnings.simplefilter("error")

import generated  # noqa: E402

calls = []
generated.set_tool_caller(lambda name, arguments: calls.append((name, arguments)))
manifest = json.loads(Path("generated/_manifest.json").read_text(encoding="utf-8"))
reached = []
for server in manifest["servers"]:
    package = importlib.import_module("generated.mcp." + server["python"])
    assert importlib.import_module("generated.servers." + server["python"]) is package
    for tool in server["tools"]:
        module = importlib.import_module(f"generated.mcp.{server['python']}.{tool['python']}")
        function = getattr(package, tool["python"])
        assert function is getattr(module, tool["python"])
        assert (function.server, function.tool) == (server["name"], tool["name"])
        signature = inspect.signature(function)
        str(signature), repr(function), inspect.getdoc(function), inspect.signature(function.raw_sync)
        # Each type can be evaluated where its names are, NotRequired too.
        typing.get_type_hints(function)
        for value in list(vars(module).values()):
            if isinstance(value, type) and hasattr(value, "__total__"):
                typing.get_type_hints(value)
        required = [each.name for each in signature.parameters.values() if each.kind is each.KEYWORD_ONLY and each.default is each.empty]
        function.sync(**{name: None for name in required})
        by_name = calls.pop()
        function.sync(dict(by_name[1]))
        assert calls.pop() == by_name, (by_name, function)
        every = [each.name for each in signature.parameters.values() if each.kind is each.KEYWORD_ONLY]
        function.sync(**{name: None for name in every})
        reached.append([server["name"], tool["name"], sorted(by_name[1]), sorted(calls.pop()[1])])
print(json.dumps(reached))

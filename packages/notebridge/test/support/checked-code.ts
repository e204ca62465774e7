/** Code over server-everything, -filesystem (with `folder`, which has a.txt to c.txt) and -memory. */
export interface CheckedSnippet {
  name: string;
  code: string;
  /** It changes what the tools are, or may: it needs a Python of its own. */
  isAlone?: boolean;
}

export interface WrongSnippet extends CheckedSnippet {
  /** Where its error is. */
  line: number;
  /** Of what is said. */
  says: RegExp;
}

/** Runs to its end in the kernel, however odd it looks to a type checker. */
export function rightCode(folder: string): CheckedSnippet[] {
  const path = JSON.stringify(`${folder}/a.txt`);
  const dir = JSON.stringify(folder);
  const snippets: Record<string, string> = {
    'a plain call': `from generated.mcp.filesystem import read_text_file\n(await read_text_file(path=${path}))["content"]`,
    'an optional argument': `from generated.mcp.filesystem import read_text_file\nawait read_text_file(path=${path}, head=1)`,
    'a float for a number': `from generated.mcp.everything import get_sum\nawait get_sum(a=1.5, b=2)`,
    'the result of a division for a number': `from generated.mcp.filesystem import read_text_file\nawait read_text_file(path=${path}, head=4 / 2)`,
    'a dict of arguments': `from generated.mcp.everything import get_sum\nawait get_sum({"a": 1, "b": 2})`,
    'a dict and names': `from generated.mcp.everything import get_sum\nawait get_sum({"a": 1}, b=2)`,
    'arguments=': `from generated.mcp.everything import get_sum\nawait get_sum(arguments={"a": 1, "b": 2})`,
    'an unpacked dict': `from generated.mcp.filesystem import read_text_file\ngiven = {"path": ${path}}\nawait read_text_file(**given)`,
    'an unpacked dict of mixed values': `from generated.mcp.filesystem import read_text_file\ngiven = {"path": ${path}, "head": 1}\nawait read_text_file(**given)`,
    'an unpacked dict beside a name': `from generated.mcp.filesystem import read_text_file\nmore = dict(head=1)\nawait read_text_file(path=${path}, **more)`,
    'timeout and progress': `from generated.mcp.everything import echo\nawait echo(message="a", timeout=30, on_progress=True)`,
    'the whole result': `from generated.mcp.everything import echo\n(await echo.raw(message="a")).value`,
    'without await': `from generated.mcp.everything import echo\nf = echo\ntype(f).__name__, f.server, f.tool`,
    gather: `import asyncio\nfrom generated.mcp.everything import get_sum\nawait asyncio.gather(*(get_sum(a=n, b=n) for n in range(3)))`,
    'gather with failures': `import asyncio\nfrom generated.mcp.everything import echo\nfound = await asyncio.gather(echo(message="a"), return_exceptions=True)\n[str(each) for each in found]`,
    'a task group': `import asyncio\nfrom generated.mcp.everything import echo\nasync with asyncio.TaskGroup() as group:\n    tasks = [group.create_task(echo(message=str(n))) for n in range(2)]\n[task.result() for task in tasks]`,
    'await in a comprehension': `from generated.mcp.everything import echo\n[await echo(message=str(n)) for n in range(2)]`,
    'an async generator': `from generated.mcp.everything import echo\nasync def each():\n    for n in range(2):\n        yield await echo(message=str(n))\n[one async for one in each()]`,
    'a coroutine that is awaited later': `from generated.mcp.everything import echo\nsoon = echo(message="a")\nanswer = await soon\nanswer`,
    'awaited if it has to be': `import inspect\nfrom generated.mcp.everything import echo\nanswer = echo(message="a")\nif inspect.isawaitable(answer):\n    answer = await answer\nanswer.upper() if isinstance(answer, str) else answer`,
    partial: `import functools\nfrom generated.mcp.everything import get_sum\nadd = functools.partial(get_sum, a=1)\nawait add(b=2)`,
    'a function of a function': `from generated.mcp.everything import echo\nasync def shout(function, **given):\n    return str(await function(**given)).upper()\nawait shout(echo, message="a")`,
    'functions by name': `from generated.mcp import everything\nawait getattr(everything, "echo")(message="a")`,
    'a function that may be there': `from generated.mcp import everything\nhas = hasattr(everything, "echo_twice")\nawait everything.echo_twice(message="a") if has else "none"`,
    'a function that is not there, caught': `try:\n    from generated.mcp.everything import echo_twice\nexcept ImportError:\n    echo_twice = None\necho_twice`,
    'a server that is not there, caught': `try:\n    import generated.mcp.nothing as nothing\nexcept ModuleNotFoundError:\n    nothing = None\nnothing`,
    'a wrong argument, caught': `from generated.mcp.everything import echo\ntry:\n    answer = await echo(text="a")\nexcept TypeError:\n    answer = await echo(message="a")\nanswer`,
    'a wrong argument, suppressed': `import contextlib\nfrom generated.mcp.everything import echo\nwith contextlib.suppress(TypeError):\n    await echo(text="a")\n"on"`,
    'a missing argument, caught below': `from generated.mcp.everything import get_sum\ntry:\n    if True:\n        await get_sum(\na=1)\nexcept (TypeError, ValueError) as error:\n    print(error)`,
    'any value': `import json\nfrom generated.mcp.filesystem import read_text_file\ngiven = json.loads('{"path": ${path}}')\nawait read_text_file(path=given["path"])`,
    'a text or None': `import os\nfrom generated.mcp.filesystem import read_text_file\nos.environ["FILE"] = ${path}\nawait read_text_file(path=os.environ.get("FILE"))`,
    'a part of a match': `import re\nfrom generated.mcp.filesystem import read_text_file\nmatch = re.match("(.*)", ${path})\nawait read_text_file(path=match.group(1))`,
    'None for what is optional': `from generated.mcp.everything import get_resource_links\nawait get_resource_links(count=2) if None is None else await get_resource_links(count=None)`,
    'a tuple for a list': `from generated.mcp.filesystem import read_multiple_files\nlen(await read_multiple_files(paths=(${path},)))`,
    'a list that was built': `from generated.mcp.filesystem import read_multiple_files\npaths = []\nfor name in ("a", "b"):\n    paths.append(${dir} + f"/{name}.txt")\nlen(await read_multiple_files(paths=paths))`,
    'dicts that were built': `from generated.mcp.memory import create_entities\nrows = [("x", "1"), ("y", "2")]\nentities = [{"name": name, "entityType": "row", "observations": [value]} for name, value in rows]\nlen((await create_entities(entities=entities))["entities"])`,
    'a dict of any values': `from typing import Any\nfrom generated.mcp.memory import create_entities\nentity: dict[str, Any] = {"name": "z"}\nentity.update(entityType="row", observations=[])\nlen((await create_entities(entities=[entity]))["entities"])`,
    'a text for one of some': `from generated.mcp.filesystem import list_directory_with_sizes\nkey = "si" + "ze"\nlen(await list_directory_with_sizes(path=${dir}, sortBy=key))`,
    'one of some by a condition': `from generated.mcp.filesystem import list_directory_with_sizes\nby_size = True\nlen(await list_directory_with_sizes(path=${dir}, sortBy="size" if by_size else "nothing"))`,
    'a path': `import pathlib\nfrom generated.mcp.filesystem import read_text_file\nawait read_text_file(path=pathlib.PurePosixPath(${path}))`,
    'a date in a dict': `import datetime\nfrom generated.mcp.everything import echo\nawait echo({"message": datetime.date(2026, 1, 1).isoformat()})`,
    'a class of its own': `from generated.mcp.everything import echo\nclass Loud(str):\n    pass\nawait echo(message=Loud("a"))`,
    'a number with tolist': `from generated.mcp.everything import get_sum\nclass Number:\n    def __init__(self, value): self.value = value\n    def tolist(self): return self.value\nawait get_sum(a=Number(1), b=Number(2))`,
    'a star import': `from generated.mcp.everything import *\nawait echo(message="a")`,
    'a star import of the other names': `from generated import *\nimport generated\nawait generated.mcp.everything.echo(message="a")`,
    'the other spelling': `from generated import everything__echo\nawait everything__echo(message="a")`,
    'the name of the server and tool': `from generated import call_tool\nawait call_tool("everything__echo", {"message": "a"})`,
    'servers in place of mcp': `from generated.servers.everything import echo\nawait echo(message="a")`,
    'a module of one tool': `import generated.mcp.everything.echo\nawait generated.mcp.everything.echo(message="a")`,
    'a tool that fails': `from generated import ToolError\nfrom generated.mcp.filesystem import read_text_file\ntry:\n    await read_text_file(path="/nowhere")\nexcept ToolError as error:\n    print(error.code, error.server, error.tool)`,
    'a function that takes its place': `from generated.mcp.everything import echo\nasync def echo(text):\n    return text\nawait echo("a")`,
    'a function that takes its place on a condition': `from generated.mcp.everything import echo\nif echo.tool == "echo":\n    async def echo(text):\n        return text\nawait echo("a")`,
    'a name that is used for something else': `from generated.mcp.everything import echo\necho = str.upper\necho("a")`,
    'a name that a function finds changed': `from generated.mcp.everything import echo\nasync def run():\n    return await echo("a")\nasync def mine(text):\n    return text\necho = mine\nawait run()`,
    'a function that was set on its module': `from generated.mcp import everything\nasync def mine(text):\n    return text\neverything.echo = mine\nawait everything.echo("a")`,
    'a function that was set with setattr': `from generated.mcp import everything\nasync def mine(text):\n    return text\nsetattr(everything, "echo", mine)\nfrom generated.mcp.everything import echo\nawait echo("a")`,
    'a patch of mock': `from unittest import mock\nimport generated.mcp.everything\nwith mock.patch("generated.mcp.everything.echo", lambda text: text):\n    print(generated.mcp.everything.echo("a"))`,
    'a caller of its own': `from generated import set_tool_caller\nfrom generated.mcp.everything import echo\nset_tool_caller(lambda name, given: "mine")\nanswer = await echo(message="a")\nset_tool_caller(None)\nanswer`,
    'a name that exec makes': `exec("from generated.mcp.everything import echo as said")\nawait said(message="a")`,
    'a name that globals has': `from generated.mcp.everything import echo\nglobals()["echo"] = len\necho("abc")`,
    'type: ignore': `from generated.mcp.everything import echo\nif echo.tool == "":\n    await echo(text="a")  # type: ignore\n"on"`,
    'a comment that asks for all rules': `# pyright: strict\nfrom generated.mcp.everything import echo\ndef own(x, y=[]): return x\nown(await echo(message="a"))`,
    'comments that switch rules': `# pyright: reportUnusedExpression=true, reportUnusedImport=error, reportMissingTypeStubs=true\nimport os\nfrom generated.mcp.everything import echo\n1 + 1\nawait echo(message="a")`,
    'errors of its own that it handles': `from generated.mcp.everything import echo\ndef own(a): return a\ntry:\n    own()\nexcept TypeError:\n    pass\nawait echo(message="a")`,
    'an error that never comes': `from generated.mcp.everything import echo\nif await echo(message="a") == "":\n    undefined_name.attribute(1)\n"on"`,
    'a result that is more than its type': `from generated.mcp.everything import get_structured_content\nfound = await get_structured_content(location="Chicago")\nfound.get("more"), found.get("temperature"), dict(found)`,
    'an attribute of what is no result any more': `import types\nfrom generated.mcp.everything import get_structured_content\nfound = await get_structured_content(location="Chicago")\nif len(found) > 0:\n    found = types.SimpleNamespace(**found)\nfound.temperature`,
    'a result that was changed': `from generated.mcp.everything import get_structured_content\nfound = await get_structured_content(location="Chicago")\nfound["mine"] = [1]\nfound = found["mine"]\nfound[0]`,
    'a module that is only in the kernel': `try:\n    import numpy as np\nexcept ImportError:\n    np = None\nfrom generated.mcp.everything import get_sum\nawait get_sum(a=np.int64(1) if np else 1, b=2)`,
    'a loop over results': `from generated.mcp.filesystem import list_directory, read_text_file\nlines = (await list_directory(path=${dir}))["content"].splitlines()\ntotal = 0\nfor line in lines:\n    name = line.split(" ", 1)[1]\n    total += len((await read_text_file(path=f"${folder}/{name}"))["content"])\ntotal`,
    'a magic': `%time 1 + 1\nfrom generated.mcp.everything import echo\nawait echo(message="a")`,
    'syntax of 3.14': `from generated.mcp.everything import echo\ntype Text = str\ndef first[T](all: list[T]) -> T: return all[0]\nname = "a"\nshown = t"{name}"\nawait echo(message=first([f"{name!r:>{4}} {"nested"}"]))`,
    'match and walrus': `from generated.mcp.everything import echo\nmatch (answer := await echo(message="a")):\n    case str(text): print(text)\n    case _: print(answer)`,
    'lines that end otherwise': `from generated.mcp.everything import echo\r\nawait echo(\r\n    message="é 😀",\r\n)`,
  };
  return Object.entries(snippets).map(([name, code]) => ({
    name,
    code,
    isAlone: /setattr|mock|exec|globals|set_tool_caller|everything\.echo =/.test(code),
  }));
}

/** Is refused before it runs. Each has called `echo` first, which must not happen. */
export function wrongCode(folder: string): WrongSnippet[] {
  const path = JSON.stringify(`${folder}/a.txt`);
  const first = 'from generated.mcp.everything import echo\nawait echo(message="first")\n';
  const wrong = (name: string, code: string, line: number, says: RegExp): WrongSnippet => ({
    name,
    code: first + code,
    line: line + 2,
    says,
  });
  const read = 'from generated.mcp.filesystem import read_text_file\n';
  return [
    wrong('an argument that is not there', `${read}await read_text_file(file=${path})`, 2, /No parameter named "file"/),
    wrong('an argument that is spelled otherwise', `await echo(\n    messsage="a",\n)`, 2, /No parameter named "messsage"/),
    wrong('an argument that is missing', `${read}await read_text_file()`, 2, /Argument missing for parameter "path"/),
    wrong(
      'one of two that is missing',
      'from generated.mcp.everything import get_sum\nawait get_sum(a=1)',
      2,
      /Argument missing for parameter "b"/,
    ),
    wrong('a positional argument', `${read}await read_text_file(${path})`, 2, /given by name, or as one dict/),
    wrong('a number for a text', `${read}await read_text_file(path=5)`, 2, /parameter "path" of type "str"/),
    wrong('a text for a number', `${read}await read_text_file(path=${path}, head="5")`, 2, /parameter "head"/),
    wrong('a list for a text', `${read}await read_text_file(path=[${path}])`, 2, /parameter "path" of type "str"/),
    wrong(
      'a text for a list',
      `from generated.mcp.filesystem import read_multiple_files\nawait read_multiple_files(paths=${path})`,
      2,
      /parameter "paths"/,
    ),
    wrong('bytes for a text', 'await echo(message=b"a")', 1, /parameter "message" of type "str"/),
    wrong(
      'a text that is none of some',
      `from generated.mcp.filesystem import list_directory_with_sizes\nawait list_directory_with_sizes(path="${folder}", sortBy="date")`,
      2,
      /parameter "sortBy"/,
    ),
    wrong(
      'a variable of the wrong type',
      `${read}number = len("abc")\nawait read_text_file(path=number)`,
      3,
      /parameter "path" of type "str"/,
    ),
    wrong(
      'a call in a function',
      `${read}async def size(name):\n    return len(await read_text_file(name=name))\nawait size("a")`,
      3,
      /No parameter named "name"/,
    ),
    wrong(
      'a call in gather',
      `import asyncio\n${read}await asyncio.gather(*(read_text_file(file=name) for name in ["a"]))`,
      3,
      /No parameter named "file"/,
    ),
    wrong('a call of a module', `import generated.mcp.filesystem as fs\nawait fs.read_text_file(file="a")`, 2, /No parameter named "file"/),
    wrong('a call of another form', `${read}await read_text_file.raw(file="a")`, 2, /No parameter named "file"/),
    wrong('a call of another name', `${read}read = read_text_file\nawait read(file="a")`, 3, /No parameter named "file"/),
    wrong('a call that is not awaited', `${read}read_text_file(path=${path})`, 2, /not awaited/),
    wrong('a call that is not awaited, and used', `${read}text = read_text_file(path=${path})["content"]`, 2, /not awaited/),
    wrong('an attribute of a call that is not awaited', 'echo(message="a").upper()', 1, /not awaited/),
    wrong(
      'a loop over a call that is not awaited',
      `from generated.mcp.filesystem import list_directory\nfor line in list_directory(path="${folder}"):\n    print(line)`,
      2,
      /not awaited/,
    ),
    wrong(
      'an item as an attribute',
      `${read}found = await read_text_file(path=${path})\nfound.content`,
      3,
      /write \["content"\] in place of .content/,
    ),
    wrong(
      'an item of a call as an attribute',
      `${read}(await read_text_file(path=${path})).content.upper()`,
      2,
      /write \["content"\] in place of .content/,
    ),
    wrong('a call as an argument, not awaited', 'await echo(message=echo(message="a"))', 1, /parameter "message" of type "str"/),
    wrong(
      'a tool that is not there',
      'from generated.mcp.filesystem import read_txt_file',
      1,
      /has no "read_txt_file". Did you mean "read_text_file"\?/,
    ),
    wrong(
      'a tool that is not there, among others',
      'from generated.mcp.filesystem import (\n    read_text_file,\n    remove_everything,\n)',
      3,
      /has no "remove_everything"/,
    ),
    wrong(
      'a tool that its module has not',
      'import generated.mcp.filesystem as fs\nawait fs.read_txt_file(path="a")',
      2,
      /has no "read_txt_file"/,
    ),
    wrong(
      'a server that is not there',
      'from generated.mcp.filesistem import read_text_file',
      1,
      /generated.mcp has no "filesistem". Did you mean "filesystem"\?/,
    ),
    wrong(
      'an error behind a try that is over',
      `try:\n    1 / 0\nexcept ZeroDivisionError:\n    pass\n${read}await read_text_file(file="a")`,
      6,
      /No parameter named "file"/,
    ),
    wrong(
      'an error in what handles another',
      `${read}try:\n    1 / 0\nexcept ZeroDivisionError:\n    await read_text_file(file="a")`,
      5,
      /No parameter named "file"/,
    ),
    wrong('an error on a line of signs beyond ASCII', `${read}"😀é"; await read_text_file(file="é")`, 2, /No parameter named "file"/),
    wrong('rules that are switched on', `# pyright: strict\n${read}await read_text_file(file="a")`, 3, /No parameter named "file"/),
  ];
}

/** Is no Python: Python itself says so before anything runs. */
export const brokenCode: readonly WrongSnippet[] = [
  ['a bracket that is open', 'print((1)', 2],
  ['an indentation', 'if True:\nprint(1)', 3],
  ['return outside of a function', 'return 5', 2],
  ['await in a function that is not async', 'def f():\n    await echo(message="a")', 3],
].map(([name, code, line]) => ({
  name: String(name),
  code: `from generated.mcp.everything import echo\n${String(code)}`,
  line: Number(line),
  says: /SyntaxError|IndentationError/,
}));

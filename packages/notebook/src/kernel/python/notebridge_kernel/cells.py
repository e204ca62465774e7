"""A cell's source, from text to value: what IPython adds to the language, and no more."""

import ast
import builtins
import inspect
import io
import linecache
import tokenize

from .magics import replace_magics, rest_of_timed_cell, timed

_FLAGS = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
_NOT_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.ENDMARKER, tokenize.INDENT, tokenize.DEDENT}


def file_name(count):
    return f"<cell {count}>"


def remember_source(count, source):
    """Makes tracebacks and inspect.getsource find the lines. No time stamp: linecache then never looks for a file."""
    lines = source.splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    linecache.cache[file_name(count)] = (len(source), None, lines, file_name(count))


async def run_source(source, name, namespace):
    """The value of the last expression, or None. A magic line finds its way back here through the builtins."""

    async def run_line(line):
        return await run_source(line, name, namespace)

    builtins.__notebridge_magic__ = timed(run_line)
    rest = rest_of_timed_cell(source)
    if rest is not None:
        return await timed(run_source)("time", rest, name, namespace)
    body, last = _compile(source, name)
    if body:
        await _evaluate(body, namespace)
    return await _evaluate(last, namespace) if last else None


def _compile(source, name):
    tree = _parse(source, name)
    if not (tree.body and isinstance(tree.body[-1], ast.Expr)) or _ends_with_semicolon(source):
        return compile(tree, name, "exec", _FLAGS, dont_inherit=True), None
    last = compile(ast.Expression(tree.body.pop().value), name, "eval", _FLAGS, dont_inherit=True)
    body = compile(tree, name, "exec", _FLAGS, dont_inherit=True) if tree.body else None
    return body, last


def _parse(source, name):
    try:
        return compile(source, name, "exec", _FLAGS | ast.PyCF_ONLY_AST, dont_inherit=True)
    except SyntaxError:
        # Only what is not Python can hold a magic: a line of `%` in good code is a remainder, or part of a string.
        replaced = replace_magics(source)
        if replaced == source:
            raise
    return compile(replaced, name, "exec", _FLAGS | ast.PyCF_ONLY_AST, dont_inherit=True)


async def _evaluate(code, namespace):
    value = eval(code, namespace)
    return await value if code.co_flags & inspect.CO_COROUTINE else value


def _ends_with_semicolon(source):
    if ";" not in source:
        return False
    try:
        tokens = [token for token in tokenize.generate_tokens(io.StringIO(source).readline) if token.type not in _NOT_CODE]
    except (tokenize.TokenError, SyntaxError):
        return False
    return bool(tokens) and tokens[-1].string == ";"


class History:
    """`In`, `Out`, `_`, `__`, `___` and `_1`, as far as the cell's own names leave them alone."""

    def __init__(self, namespace):
        self._namespace = namespace
        self._inputs = [""]
        self._outputs = {}
        self._last = ["", "", ""]
        namespace.update(In=self._inputs, Out=self._outputs, _="", __="", ___="")

    def add_input(self, count, source):
        self._inputs.extend([""] * (count - len(self._inputs)))
        self._inputs.append(source)

    def add_output(self, count, value):
        if value is self._outputs:
            return
        self._outputs[count] = value
        self._namespace[f"_{count}"] = value
        # Somebody who names a variable `_` keeps it.
        if self._namespace.get("_") is self._last[0]:
            self._last = [value, *self._last[:2]]
            self._namespace.update(zip(("_", "__", "___"), self._last))

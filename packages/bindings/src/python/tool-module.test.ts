import type { JsonObject } from '@notebridge/protocol/json';
import { describe, expect, it } from 'vitest';
import { toolModule } from './tool-module.js';

/** What a parameter of this schema looks like, and the types that were made for it. */
function typeOf(schema: unknown, definitions: JsonObject = {}): string {
  const tool = { name: 'tool', inputSchema: { type: 'object', properties: { x: schema }, required: ['x'], $defs: definitions } };
  return /^ {4}x: (.*),$/m.exec(toolModule('server', tool, 'tool').text)?.[1] ?? 'none';
}

function resultOf(outputSchema: JsonObject): string {
  return / -> (.*)$/.exec(toolModule('server', { name: 'tool', inputSchema: {}, outputSchema }, 'tool').signature)?.[1] ?? 'none';
}

const text = { type: 'string' };

describe('the type of a parameter', () => {
  it.each<[about: string, schema: unknown, type: string]>([
    ['a string, whatever its format', { type: 'string', format: 'date' }, 'str'],
    ['an integer', { type: 'integer' }, 'int'],
    ['a list of types', { type: ['string', 'integer', 'null'] }, 'Optional[Union[str, int]]'],
    ['nullable', { type: 'number', nullable: true }, 'Optional[float]'],
    ['an enum of all kinds', { enum: ['a', 1, true, null, 1.5] }, 'Optional[Union[Literal["a", 1, True], float]]'],
    ['a const', { const: 'a"' }, 'Literal["a\\""]'],
    ['an enum too long to list', { enum: Array.from({ length: 500 }, (_, index) => `v${index}`) }, 'str'],
    ['a list', { type: 'array', items: text }, 'List[str]'],
    ['a list of anything', { type: 'array' }, 'List[Any]'],
    ['a tuple', { type: 'array', prefixItems: [text, { type: 'integer' }], items: false }, 'Union[Tuple[str, int], List[Union[str, int]]]'],
    ['a tuple of old', { type: 'array', items: [text], additionalItems: false }, 'Union[Tuple[str], List[str]]'],
    ['a map', { type: 'object', additionalProperties: text }, 'Dict[str, str]'],
    ['patterns', { type: 'object', patternProperties: { '^x': text, '^y': { type: 'integer' } } }, 'Dict[str, Union[str, int]]'],
    ['an object with others beside', { type: 'object', properties: { a: text }, additionalProperties: true }, 'Dict[str, Any]'],
    ['an object', { type: 'object', properties: { a: text } }, 'X'],
    ['a choice', { anyOf: [text, { type: 'null' }] }, 'Optional[str]'],
    ['a choice of one', { oneOf: [{ type: 'array', items: text }, text] }, 'Union[List[str], str]'],
    ['all of two objects', { allOf: [{ type: 'object', properties: { a: text } }, { properties: { b: text } }] }, 'X'],
    ['true', true, 'Any'],
    ['false', false, 'Any'],
    ['nothing', {}, 'Any'],
    ['no schema', 7, 'Any'],
    ['an unknown type', { type: 'date' }, 'Any'],
    ['a reference', { $ref: '#/$defs/Name' }, 'str'],
    ['a reference to an object', { $ref: '#/$defs/Node', description: 'With a word.' }, 'Node'],
    ['a reference to itself', { $ref: '#/properties/x' }, 'Any'],
    ['a reference elsewhere', { $ref: 'https://example.com/schema' }, 'Any'],
    ['a reference to nowhere', { $ref: '#/$defs/Nobody' }, 'Any'],
  ])('a parameter gets its type: %s', (_, schema, type) => {
    const node = { type: 'object', properties: { next: { $ref: '#/$defs/Node' } } };
    expect(typeOf(schema, { Name: text, Node: node })).toBe(type);
  });
});

describe('the type of a result', () => {
  const object = (properties: JsonObject, required: string[] = []) => ({ type: 'object', properties, required });
  it('is that of a lone member `result`, as the hub unwraps it', () => expect(resultOf(object({ result: text }, ['result']))).toBe('str'));
  it('may be either where others may stand beside it', () => expect(resultOf(object({ result: text, more: text }))).toBe('Any'));
  it('is the object where others stand beside it', () => expect(resultOf(object({ result: text, more: text }, ['more']))).toBe('Result'));
  it('is never a tuple, which JSON does not have', () => {
    expect(resultOf(object({ result: { type: 'array', prefixItems: [text], items: false } }))).toBe('List[str]');
  });
});

it('a module of a tool is what a person would write', () => {
  const inputSchema = {
    type: 'object',
    properties: {
      dryRun: { type: 'boolean', default: false, description: 'Only show it.' },
      edits: { type: 'array', items: { type: 'object', properties: { from: text, to: text }, required: ['from'] } },
      'file-name': { type: 'string', description: 'The file\nto edit', minLength: 1 },
      mode: { enum: ['fast', 'safe'], default: 'safe' },
    },
    required: ['file-name', 'edits'],
  };
  const annotations = { title: 'Edit', destructiveHint: true, idempotentHint: false };
  expect(
    toolModule('files', { name: 'edit-file', description: 'Edits a file.', inputSchema, annotations }, 'edit_file').text,
  ).toMatchInlineSnapshot(`
    """"The tool edit-file of the MCP server files."""

    from __future__ import annotations

    from typing import Any, List, Literal, Optional, TypedDict

    from ..._function import OnProgress, default, tool_function
    from ..._typing import NotRequired


    EditsItem = TypedDict(
        "EditsItem",
        {
            "from": "str",
            "to": "NotRequired[str]",
        },
    )


    @tool_function("files", "edit-file", {"file_name": "file-name"})
    async def edit_file(
        *,
        edits: List[EditsItem],
        file_name: str,
        dryRun: bool = False,
        mode: Literal["fast", "safe"] = default("safe"),
        on_progress: OnProgress = None,
        timeout: Optional[float] = None,
    ) -> Any:
        """Edits a file.

        The server says that it is: destructive (it may overwrite or delete).

        Args:
            edits (List[EditsItem]):
            file_name (str): The file
                to edit.
                Characters: at least 1. On the wire: "file-name".
            dryRun (bool, optional): Only show it. Default: False.
            mode (Literal["fast", "safe"], optional): Default: "safe".

        Returns:
            Any: what the tool answers. The server does not say of what type.

        Raises:
            ToolError: The tool failed, or could not be called.

        On the wire: the tool "edit-file" of the MCP server "files".
        """
        raise NotImplementedError
    "
  `);
});

it('a tool may be called as what its module needs', () => {
  const inputSchema = { type: 'object', properties: { a: text, b: { type: 'array' } } };
  expect(toolModule('s', { name: 'str', inputSchema }, 'str').text).toContain('from builtins import str as str_');
  expect(toolModule('s', { name: 'List', inputSchema }, 'List').text).toContain('b: List_[Any] = UNSET');
});

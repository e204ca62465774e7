import { join } from 'node:path';
import { parseJson } from '@notebridge/protocol/exact-json';
import type { JsonObject } from '@notebridge/protocol/json';
import { describe, expect, it } from 'vitest';
import { folderOf, typeFaults } from '../../../notebridge/test/support/type-check.js';
import type { BindingsInput, BoundTool, GeneratedFiles } from '../model.js';
import { emitTypeScript } from './emit-typescript.js';

const inputOf = (servers: Record<string, BoundTool[]>, more: Partial<BindingsInput> = {}): BindingsInput => ({
  servers: Object.entries(servers).map(([name, tools]) => ({ name, description: undefined, tools })),
  skills: true,
  hubUrl: 'http://127.0.0.1:8765/api/v1/mcp/proxy',
  ...more,
});
const tool = (name: string, inputSchema: unknown = { type: 'object' }, more: JsonObject = {}): BoundTool =>
  ({ name, inputSchema, ...more }) as BoundTool;
/** What TypeScript says of the package, and of code that uses it. */
function faultsIn({ files }: GeneratedFiles, use = ''): string[] {
  const folder = folderOf(new Map([...files, ['use.ts', use], ['package.json', '{"type":"module"}']]));
  const shown = [...files.keys()].filter((path) => path.endsWith('.d.ts'));
  return typeFaults([join(folder, 'use.ts'), ...shown.map((path) => join(folder, path))]).map((fault) => fault.replaceAll(folder, ''));
}

describe('emitTypeScript', () => {
  it('types arguments and results, and code that gets them wrong does not compile', { tags: ['deep'] }, async () => {
    const edit = tool(
      'edit_file',
      {
        type: 'object',
        properties: {
          path: { type: 'string', description: 'Which file.' },
          mode: { enum: ['dry', 'wet'], default: 'dry' },
          edits: {
            type: 'array',
            items: { type: 'object', properties: { oldText: { type: 'string' } }, required: ['oldText'], additionalProperties: false },
          },
        },
        required: ['path'],
      },
      { outputSchema: { type: 'object', properties: { result: { type: 'array', items: { type: 'integer' } } }, required: ['result'] } },
    );
    const files = await emitTypeScript(inputOf({ fs: [edit, tool('roots')] }));
    const good = `
      import { mcp, ToolError, configure } from './index.js';
      import { edit_file, roots } from './mcp/fs.js';
      configure({ url: 'http://127.0.0.1:1' });
      const numbers: number[] = await edit_file({ path: 'x', mode: 'wet', edits: [{ oldText: 'y' }] }, { timeoutMs: 5, onProgress: ({ progress }) => progress + 1 });
      const { value, callId } = await mcp.fs.edit_file.raw({ path: 'x' });
      const same: number[] = value;
      const text: string = await roots<string>();
      const given: edit_file.Arguments = { path: 'x' };
      try { await edit_file(given); } catch (error) { if (error instanceof ToolError) console.log(error.code, error.server); }
      console.log(numbers, same, text, callId, mcp.fs.edit_file.tool);
      export {};`;
    expect(faultsIn(files, good)).toEqual([]);
    const wrong = [
      `{}`,
      `{ path: 1 }`,
      `{ path: 'x', mode: 'damp' }`,
      `{ path: 'x', pth: 'y' }`,
      `{ path: 'x', edits: [{ oldTxt: 'y' }] }`,
    ];
    const bad = `import { edit_file } from './mcp/fs.js';\n${wrong.map((given) => `void edit_file(${given});\n`).join('')}`;
    const lines = faultsIn(files, bad).map((fault) => /^\/use\.ts:(\d+) /.exec(fault)?.[1]);
    expect(lines).toEqual(['2', '3', '4', '5', '6']);
    expect(files.files.get('mcp/fs.d.ts')).toContain('     * Which file.\n     */\n    path: string');
  });

  it('can be imported where a tool or a server is named as what an import would wait for', { tags: ['P-671'] }, async () => {
    const { files } = await emitTypeScript(
      inputOf(
        Object.fromEntries([
          ['then', ['then', 'catch', 'default'].map((name) => tool(name))],
          ['other', [tool('a')]],
        ]),
      ),
    );
    const folder = folderOf(new Map([...files, ['package.json', '{"type":"module"}']]));
    const server = (await import(join(folder, 'mcp/then_.js'))) as Record<string, unknown>;
    expect(Object.keys(server).sort()).toEqual(['catch_', 'default_', 'then_']);
    const { mcp } = (await import(join(folder, 'index.js'))) as { mcp: Record<string, unknown> };
    expect(Object.keys(mcp).sort()).toEqual(['other', 'then_']);
  });

  it('names servers so that their modules lie in the folder, each by itself', { tags: ['deep'] }, async () => {
    const names = ['index', 'a', 'A', 'a-b', 'a_b', 'con', 'class', '..', '../up', 'x'.repeat(300), 'ü', 'mcp', 'client'];
    const files = await emitTypeScript(inputOf(Object.fromEntries(names.map((name) => [name, [tool('t')]]))));
    expect(faultsIn(files)).toEqual([]);
    const modules = [...files.files.keys()].filter((path) => /^mcp\/.*\.js$/.test(path));
    expect(new Set(modules.map((path) => path.toLowerCase())).size).toBe(names.length + 1);
    expect(modules.filter((path) => !/^mcp\/\w+\.js$/.test(path))).toEqual([]);
  });

  // One compilation for all: it takes longer than everything else here.
  it('compiles whatever a server calls its tools, says of them and has in its schemas', { tags: ['P-086'] }, async () => {
    const schemas = Object.entries(parseJson(hostileSchemas) as Record<string, unknown>).flatMap(([name, schema]) => [
      tool(`in_${name}`, schema),
      tool(`deep_${name}`, { type: 'object', properties: { it: schema }, required: ['it'] }),
      tool(`out_${name}`, { type: 'object' }, { outputSchema: schema }),
    ]);
    const texts = oddTexts.map((text, at) =>
      tool(
        `t${at}`,
        { type: 'object', properties: { p: { type: 'string', description: text, default: text } } },
        { description: text, title: text },
      ),
    );
    const named = oddNames.map((name) => tool(name, undefined, { description: name }));
    const { servers, ...others } = inputOf({ named, schemas });
    const says = { name: 'says', description: oddTexts.join('\n'), tools: texts };
    const { files, warnings } = await emitTypeScript({ ...others, servers: [...servers, says] });
    expect(faultsIn({ files, warnings } as GeneratedFiles)).toEqual([]);

    // Names stay on the wire as they are.
    const module = files.get('mcp/named.js') ?? '';
    for (const name of oddNames) expect(module).toContain(`$client.defineTool("named", ${JSON.stringify(name)});`);
    const given = [...module.matchAll(/^export const (\w+) =/gm)].map(([, name]) => name);
    expect(new Set(given).size).toBe(oddNames.length);
    expect(given).toContain('get_user');
    expect(given).toContain('class_');
    expect(warnings.join('\n')).toContain('The tool "get-user" of the server "named" is called get_user_');

    // No reference outside is followed.
    const types = files.get('mcp/schemas.d.ts') ?? '';
    expect(types).not.toMatch(/root:|process\.exit|import\('/);
    expect(warnings.filter((line) => line.includes('file:///etc/passwd'))).toHaveLength(3);
    expect(types).toMatch(/in_cycle[^]*child\?: Node\b/);

    // Texts stay inside of comments.
    for (const [path, text] of files) if (path.includes('says')) expect(text).not.toMatch(/[\u2028\u202e]/);
  });

  it('compiles schemas nested a thousand deep and as wide', { tags: ['deep'] }, async () => {
    let deep: JsonObject = { type: 'string' };
    for (let depth = 0; depth < 1000; depth++) deep = { type: 'object', properties: { it: deep } };
    const wide = {
      type: 'object',
      properties: Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [`p${n}`, { type: 'string', enum: [`v${n}`] }])),
    };
    const files = await emitTypeScript(inputOf({ big: [tool('deep', deep), tool('wide', wide)] }));
    expect(faultsIn(files)).toEqual([]);
    expect(files.warnings).toEqual(['The tool "deep" of the server "big" has a part without a type: it is too deep or too large.']);
  });

  it('gives the same bytes for the same tools, and no others', { tags: ['P-087'] }, async () => {
    const tools = [tool('a', { type: 'object', properties: { x: { type: 'number' } } }), tool('b')];
    const [one, other, changed] = await Promise.all([
      emitTypeScript(inputOf({ s: tools })),
      emitTypeScript(inputOf({ s: structuredClone(tools) })),
      emitTypeScript(inputOf({ s: [tool('a')] })),
    ]);
    expect([...other.files]).toEqual([...one.files]);
    expect(other.contentHash).toBe(one.contentHash);
    expect(changed.contentHash).not.toBe(one.contentHash);
  });

  it('writes the skills only where there are some', { tags: ['deep'] }, async () => {
    const without = await emitTypeScript(inputOf({}, { skills: false, hubUrl: undefined }));
    expect([...without.files.keys()].filter((path) => path.includes('skills'))).toEqual([]);
    expect(faultsIn(without)).toEqual([]);
    const with_ = await emitTypeScript(inputOf({}));
    const use = `import { skills } from './index.js';\nconst runs: boolean = (await skills.run_skill('a', 'b.py', ['c'])).success;\nexport { runs };`;
    expect(faultsIn(with_, use)).toEqual([]);
  });
});

const oddNames = [
  'class',
  'default',
  'await',
  'arguments',
  'eval',
  'undefined',
  'any',
  'string',
  'never',
  'Promise',
  'Object',
  'Array',
  'globalThis',
  'require',
  'get-user',
  'get_user',
  'get.user',
  'GET_USER',
  '1st',
  '日本語',
  'größe',
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'then',
  'catch',
  '',
  '-',
  '$client',
  'a"b\'c`${d}\\',
  'line\nbreak',
  '*/ alert(1) /*',
  'x'.repeat(500),
  `${'x'.repeat(500)}y`,
  'Arguments',
  'Result',
  '\ud800',
  '../../etc/passwd',
];
const oddTexts = [
  '*/ alert(1) /*',
  '/** */',
  '\u2028\u2029\u202e\u0000\r\n*/',
  '@remarks {@link x} ```ts',
  '\ud800',
  `${'*'.repeat(50)}/`,
  'a\n*/\nb',
];

/** As text, so that odd numbers and `__proto__` come as they would from a server. */
const hostileSchemas = `{
  "truth": true,
  "lie": false,
  "empty": {},
  "text": "no schema",
  "list": [],
  "number": 1e400,
  "code": { "tsType": "string; process.exit(1)", "type": "object", "tsEnumNames": ["a"], "title": "*/ x", "properties": { "a": { "tsType": "any} process.exit()", "enum": [1, 2], "tsEnumNames": ["X", "Y"] } } },
  "outside": { "type": "object", "properties": { "a": { "$ref": "file:///etc/passwd" } } },
  "root_outside": { "$ref": "http://127.0.0.1:9/x.json" },
  "nowhere": { "type": "object", "properties": { "a": { "$ref": "#/$defs/none" }, "b": { "$ref": 7 }, "c": { "$ref": "#anchor" } } },
  "cycle": { "type": "object", "properties": { "node": { "$ref": "#/$defs/node" } }, "$defs": { "node": { "type": "object", "properties": { "child": { "$ref": "#/$defs/node" } } } } },
  "self": { "$ref": "#" },
  "self_deep": { "type": "object", "properties": { "me": { "$ref": "#" }, "mine": { "$ref": "#/properties/me" } } },
  "alias_cycle": { "$ref": "#/$defs/a", "$defs": { "a": { "$ref": "#/$defs/b" }, "b": { "$ref": "#/$defs/a" } } },
  "array_cycle": { "$ref": "#/$defs/a", "$defs": { "a": { "type": "array", "items": { "$ref": "#/$defs/a" } } } },
  "union_cycle": { "type": "object", "properties": { "v": { "$ref": "#/$defs/v" } }, "$defs": { "v": { "anyOf": [{ "type": "string" }, { "type": "array", "items": { "$ref": "#/$defs/v" } }, { "type": "object", "additionalProperties": { "$ref": "#/$defs/v" } }] } } },
  "bare_union_cycle": { "type": "object", "properties": { "v": { "$ref": "#/$defs/v" } }, "$defs": { "v": { "anyOf": [{ "$ref": "#/$defs/v" }, { "type": "string" }] } } },
  "all_cycle": { "type": "object", "properties": { "v": { "$ref": "#/$defs/v" } }, "$defs": { "v": { "allOf": [{ "$ref": "#/$defs/v" }, { "type": "object" }] } } },
  "beside": { "type": "object", "properties": { "a": { "$ref": "#/$defs/x", "type": "object", "properties": { "more": { "type": "string" } }, "description": "and more" } }, "$defs": { "x": { "type": "object", "properties": { "y": { "type": "string" } } } } },
  "names": { "type": "object", "$defs": { "Arguments": { "type": "object", "properties": { "x": { "type": "string" } } }, "Result": { "type": "string" }, "string": { "type": "number" }, "a b*/": { "type": "null" }, "Array": { "type": "array", "items": { "type": "string" } }, "日本": { "type": "object", "properties": {} } }, "properties": { "a": { "$ref": "#/$defs/Arguments" }, "b": { "$ref": "#/$defs/Result" }, "c": { "$ref": "#/$defs/string" }, "d": { "$ref": "#/$defs/a%20b*~1" }, "e": { "$ref": "#/$defs/Array" }, "f": { "$ref": "#/$defs/日本" } } },
  "properties": { "type": "object", "properties": { "__proto__": { "type": "string" }, "constructor": { "type": "string" }, "a\\"b": { "type": "string" }, "a\\nb": { "type": "string" }, "*/": { "type": "string" }, "": { "type": "string" }, "1": { "type": "string" }, "class": { "type": "string" }, "日本": { "type": "string" }, "a\\\\": { "type": "string" }, "\\u2028": { "type": "string" }, "[k: string]": { "type": "string" }, "$ref": { "type": "string" }, "toString": { "type": "number" } }, "required": ["__proto__", "missing", 3] },
  "wrong": { "type": "objekt", "properties": 3, "required": "a", "items": 7, "anyOf": {}, "enum": "x", "additionalProperties": "no", "description": 5, "default": null },
  "types": { "type": ["string", "null", "string", 3, "object", "array"], "properties": { "a": { "type": ["integer", "null"] } }, "items": { "type": "string" } },
  "no_types": { "type": [], "anyOf": [], "oneOf": [], "allOf": [], "enum": [] },
  "values": { "enum": [1, "a", null, true, { "a": [1] }, [], 12345678901234567890, 1.0, 1e400, "*/", "\\"", "\\n", "\\ud800", "\${x}"] },
  "constant": { "const": { "a": "b" } },
  "constant_null": { "const": null },
  "same_values": { "enum": ["a", "a", "a"] },
  "both": { "type": "string", "enum": ["a", 1] },
  "tuple": { "type": "array", "prefixItems": [{ "type": "string" }, { "type": "number" }], "items": false },
  "tuple_open": { "type": "array", "prefixItems": [{ "type": "string" }] },
  "tuple_old": { "type": "array", "items": [{ "type": "string" }, true, false], "additionalItems": { "type": "number" }, "minItems": 1, "maxItems": 5 },
  "tuple_empty": { "type": "array", "prefixItems": [], "items": { "type": "string" } },
  "bounds": { "type": "array", "items": { "type": "string" }, "minItems": 3, "maxItems": 4000000000 },
  "patterns": { "type": "object", "properties": { "a": { "type": "number" } }, "patternProperties": { "^x-": { "type": "string" }, "*/": { "type": "boolean" } }, "additionalProperties": { "type": "null" } },
  "pattern": { "type": "object", "patternProperties": { ".*": { "type": "string" } }, "additionalProperties": false },
  "map": { "type": "object", "additionalProperties": { "type": "array", "items": { "type": "number" } } },
  "mixed": { "type": "object", "properties": { "a": { "type": "number" } }, "additionalProperties": { "type": "string" } },
  "closed": { "type": "object", "properties": {}, "additionalProperties": false },
  "union": { "type": "object", "oneOf": [{ "properties": { "kind": { "const": "a" } }, "required": ["kind"] }, { "properties": { "kind": { "const": "b" }, "x": { "type": "number" } } }, { "required": ["z"] }] },
  "intersection": { "allOf": [{ "type": "object", "properties": { "a": { "type": "string" } } }, { "type": "object", "properties": { "b": { "type": "string" } } }, true] },
  "impossible": { "allOf": [{ "type": "string" }, { "type": "number" }, false] },
  "nullable": { "type": "object", "properties": { "a": { "type": "string", "nullable": true }, "b": { "nullable": true, "enum": ["x"] } } },
  "conditions": { "type": "object", "if": { "properties": { "a": { "const": 1 } } }, "then": { "required": ["b"] }, "else": false, "not": { "required": ["c"] }, "dependentSchemas": { "a": true }, "unevaluatedProperties": false, "properties": { "a": { "not": {} } } },
  "old": { "id": "http://example.com/x", "$schema": "http://json-schema.org/draft-04/schema#", "type": "object", "properties": { "a": { "type": "any" }, "b": { "type": "number", "exclusiveMinimum": true } }, "extends": { "$ref": "#/x" } },
  "ids": { "$id": "https://example.com/tree", "$dynamicAnchor": "node", "type": "object", "properties": { "kids": { "type": "array", "items": { "$dynamicRef": "#node" } } } },
  "same_title": { "title": "A", "type": "object", "properties": { "a": { "title": "A", "type": "object", "properties": { "a": { "title": "A", "type": "string" } } } } }
}`;

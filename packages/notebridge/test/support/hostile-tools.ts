import type { Tool } from '@notebridge/protocol/core/mcp';
import type { JsonObject } from '@notebridge/protocol/json';

/** Names that tools, servers and parameters have somewhere, and that code cannot have. */
const oddNames = [
  ...[
    'get-user',
    'get_user',
    'get.user',
    'Get_User',
    'getUser',
    'getuser',
    'GETUSER',
    'a/b',
    'a\\b',
    '../../etc/passwd',
    '..',
    '.',
    'x y',
    ' ',
  ],
  ...['from', 'class', 'None', 'True', 'import', 'async', 'await', 'lambda', 'match', 'type', 'print', 'self', 'cls', 'arguments', 'args'],
  ...[
    'kwargs',
    'on_progress',
    'timeout',
    'return',
    'str',
    'int',
    'list',
    'dict',
    'Any',
    'List',
    'Optional',
    'TypedDict',
    'UNSET',
    'default',
  ],
  ...['tool_function', 'annotations', 'OnProgress', 'NotRequired', 'Literal', 'more', 'Result', 'float', 'bool', 'object', 'typing', 'sys'],
  ...[
    '__init__',
    '__all__',
    '__path__',
    '__getattr__',
    '__debug__',
    '__dict__',
    '__class__',
    '__doc__',
    '__name__',
    '_',
    '__',
    '___',
    '_x',
    'x_',
  ],
  ...[
    '1st',
    '2',
    '0x10',
    '-',
    '--',
    '-1',
    'a__b',
    'a__b__c',
    '__a',
    'client',
    'mcp',
    'search',
    'skills',
    'servers',
    'con',
    'NUL',
    'aux',
    'com1',
  ],
  ...[
    'größe',
    'naïve',
    '名前',
    '読む',
    'имя',
    'ﬁeld',
    'µ',
    '\u202eevil',
    'a\u0000b',
    'a\nb',
    'a"b',
    "a'b",
    'a`b',
    '${x}',
    '{x}',
    '%s',
    '#',
    '\ud800',
  ],
  ...[
    'toString',
    'constructor',
    '__proto__',
    'hasOwnProperty',
    'x'.repeat(500),
    `${'y'.repeat(499)}1`,
    `${'y'.repeat(499)}2`,
    '🙂',
    'e\u0301',
    '',
  ],
];

/** Texts that break out of strings, or of their direction. */
const oddTexts = [
  '"""',
  '""""""',
  'ends in a quote"',
  'ends in a backslash\\',
  '\\N{SNOWMAN} \\U00110000 \\u12 \\x',
  "'''",
  'one\ntwo\r\nthree\rfour\u2028five\u0085six',
  'form\u000cfeed, bell \u0007, null \u0000',
  'half a pair \ud83d and \udc00',
  'bidi \u202e\u2066 hidden \u2069\u202c, tags \u{e0041}\u{e007f}',
  '"""\nraise SystemExit(1)\n"""',
  '# -*- coding: latin-1 -*-\n# type: ignore',
  '    deep indent\n\tand tabs\n',
  '%s {} {0} ${x} `y`',
  '日本語の説明。🙂',
  '',
  ' ',
];

/** Servers with the odd names, tools with them, and tools with wild schemas: the same ones for the same seed. */
export function hostileServers({
  seed,
  schemas,
}: {
  seed: number;
  schemas: number;
}): { name: string; description: string; tools: Tool[] }[] {
  const random = randomOf(seed);
  const wild = Array.from({ length: schemas }, (_, index): Tool => wildTool(`wild_${index}`, random));
  const named = oddNames.map((name, index) => toolOf(name, oddTexts[index % oddTexts.length] ?? ''));
  return [
    { name: 'wild', description: 'Schemas.', tools: sorted([...wild, ...builtTools()]) },
    { name: 'named', description: '"""', tools: sorted(named) },
    ...oddNames.map((name, index) => ({ name, description: oddTexts[index % oddTexts.length] ?? '', tools: [toolOf('ping', 'pong')] })),
  ].sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** Schemas that are built with a purpose. */
function builtTools(): Tool[] {
  const tree = {
    type: 'object',
    properties: { value: { type: 'string' }, children: { type: 'array', items: { $ref: '#/$defs/Tree' } } },
    required: ['value'],
  };
  const built: Record<string, JsonObject> = {
    all_names: {
      type: 'object',
      properties: Object.fromEntries(oddNames.map((name) => [name, { type: 'string', description: name }])),
      required: oddNames,
    },
    all_names_optional: { type: 'object', properties: Object.fromEntries(oddNames.map((name) => [name, { type: 'integer', default: 1 }])) },
    all_names_nested: {
      type: 'object',
      properties: { inner: { type: 'object', properties: Object.fromEntries(oddNames.map((name) => [name, { type: 'string' }])) } },
    },
    tree: { type: 'object', properties: { root: { $ref: '#/$defs/Tree' } }, required: ['root'], $defs: { Tree: tree } },
    json_value: {
      type: 'object',
      properties: { value: { $ref: '#/$defs/Json' } },
      $defs: {
        Json: {
          anyOf: [
            { type: 'string' },
            { type: 'array', items: { $ref: '#/$defs/Json' } },
            { type: 'object', additionalProperties: { $ref: '#/$defs/Json' } },
          ],
        },
      },
    },
    self_reference: { type: 'object', properties: { again: { $ref: '#' }, loop: { $ref: '#/properties/loop' } } },
    wide: {
      type: 'object',
      properties: Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`p${index}`, { type: 'string' }])),
      required: ['p7', 'p499'],
    },
    multiplies: multiplying(),
    deep: { type: 'object', properties: { deep: deep(200) } },
  };
  return Object.entries(built).map(([name, inputSchema]) => ({
    name,
    description: oddTexts.join('\n'),
    inputSchema,
    outputSchema: inputSchema,
  }));
}

/** Each choice holds two of the next: two to the thirtieth, if each is looked at. */
function multiplying(): JsonObject {
  const $defs: JsonObject = {};
  for (let index = 0; index < 30; index++) {
    const next = { allOf: [{ $ref: `#/$defs/D${index + 1}` }, {}] };
    $defs[`D${index}`] = {
      anyOf: [
        { type: 'array', items: next },
        { type: 'object', additionalProperties: next },
      ],
    };
  }
  return { type: 'object', properties: { value: { $ref: '#/$defs/D0' } }, $defs: { ...$defs, D30: { type: 'string' } } };
}

function deep(levels: number): JsonObject {
  let schema: JsonObject = { type: 'string' };
  for (let level = 0; level < levels; level++)
    schema = level % 2 === 0 ? { type: 'array', items: schema } : { type: 'object', properties: { x: schema } };
  return schema;
}

function toolOf(name: string, description: string): Tool {
  return { name, description, inputSchema: { type: 'object', properties: { text: { type: 'string', description } }, required: ['text'] } };
}

function wildTool(name: string, random: Random): Tool {
  const count = random.below(7);
  const properties = Object.fromEntries(
    Array.from({ length: count }, (_, index) => [random.chance(0.3) ? random.of(oddNames) : `p${index}`, wildSchema(random, 0)]),
  );
  const required = Object.keys(properties).filter(() => random.chance(0.4));
  const definitions = Object.fromEntries(['A', 'B', 'class', '1 x'].map((key) => [key, wildSchema(random, 1)]));
  return {
    name,
    description: random.of(oddTexts),
    inputSchema: {
      type: 'object',
      properties,
      required,
      $defs: definitions,
      ...(random.chance(0.3) ? { additionalProperties: random.chance(0.5) ? random.chance(0.5) : wildSchema(random, 1) } : {}),
    },
    ...(random.chance(0.6) ? { outputSchema: { ...wildSchema(random, 0), $defs: definitions } } : {}),
    ...(random.chance(0.5)
      ? { annotations: { readOnlyHint: random.chance(0.5), destructiveHint: random.chance(0.5), title: random.of(oddTexts) } }
      : {}),
  };
}

function wildSchema(random: Random, depth: number): JsonObject {
  const inner = (): unknown =>
    depth > 3
      ? random.of([true, false, {}])
      : random.chance(0.1)
        ? random.of([true, false, null, 'no schema', 7])
        : wildSchema(random, depth + 1);
  const some = (most: number) => Array.from({ length: random.below(most) + 1 }, inner);
  const value = () =>
    random.of<unknown>(['a', '"""', '\\', '\ud800', '\u202e', 1, 0, -0, 1.5, 1e300, 2 ** 60, true, false, null, [], {}, ['x', { y: 1 }]]);
  const values = () => Array.from({ length: random.below(5) }, value);
  const properties = () =>
    Object.fromEntries(some(5).map((schema, index) => [random.chance(0.4) ? random.of(oddNames) : `f${index}`, schema]));
  const kinds: (() => JsonObject)[] = [
    () => ({ type: random.of(['string', 'integer', 'number', 'boolean', 'null', 'array', 'object', 'date', 7]) }),
    () => ({ type: ['string', 'null', 'integer'].slice(0, random.below(3) + 1), default: value() }),
    () => ({ enum: values() }),
    () => ({ const: value() }),
    () => ({ type: 'string', format: 'date-time', pattern: '^"""\\\\$', minLength: 1, examples: values() }),
    () => ({ anyOf: some(4) }),
    () => ({ oneOf: some(4), description: random.of(oddTexts) }),
    () => ({ allOf: some(3) }),
    () => ({ type: 'object', properties: properties(), anyOf: some(2), required: random.of<unknown>([['f0'], 'f0', [7], undefined]) }),
    () => ({ type: 'array', items: inner() }),
    () => ({ type: 'array', prefixItems: some(3), items: random.chance(0.5) ? false : inner() }),
    () => ({ type: 'array', items: some(3) }),
    () => ({ type: 'object', properties: properties(), required: ['f0', 'f1'] }),
    () => ({ type: 'object', properties: properties(), additionalProperties: random.of([true, false]) }),
    () => ({ type: 'object', additionalProperties: inner() }),
    () => ({ type: 'object', patternProperties: { '^x': inner(), '^y': inner() } }),
    () => ({
      $ref: random.of([
        '#',
        '#/$defs/A',
        '#/$defs/B',
        '#/$defs/class',
        '#/$defs/1%20x',
        '#/nowhere',
        'https://example.com/x',
        '#anchor',
        '',
      ]),
    }),
    () => ({ $ref: random.of(['#/$defs/A', '#/$defs/B']), description: random.of(oddTexts), nullable: true }),
    () => ({ not: inner(), if: inner(), else: inner() }),
    () => ({}),
  ];
  return { ...random.of(kinds)(), ...(random.chance(0.3) ? { description: random.of(oddTexts), default: value() } : {}) };
}

interface Random {
  below(limit: number): number;
  chance(share: number): boolean;
  of<Item>(items: readonly Item[]): Item;
}

/** Numbers that look random, the same for the same seed. */
function randomOf(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  const below = (limit: number) => Math.floor(next() * limit);
  return { below, chance: (share) => next() < share, of: (items) => items[below(items.length)] as (typeof items)[number] };
}

function sorted(tools: readonly Tool[]): Tool[] {
  return [...tools].sort((one, other) => (one.name < other.name ? -1 : 1));
}

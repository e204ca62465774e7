/** What a server gives, and what code is to get for it. All of it JSON text, since numbers are compared to the letter. */
export interface ReturnValue {
  name: string;
  /** The tool's result, as the server prints it. */
  given: string;
  /** The member `result` of the answer. */
  result: string;
  /** Further members of the answer; null: it must not be there. */
  content?: string | null;
}

const text = (value: string): string => `{"type":"text","text":${JSON.stringify(value)}}`;
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';
const image = `{"type":"image","data":"${png}","mimeType":"image/png"}`;
const audio = '{"type":"audio","data":"UklGRg==","mimeType":"audio/wav"}';
const link = '{"type":"resource_link","uri":"file:///a","name":"a","x-kept":1}';
const blob = '{"type":"resource","resource":{"uri":"file:///b","blob":"AAEC","mimeType":"application/octet-stream"}}';

/** Structured content is what code gets, whatever it is; a lone `result` is unwrapped. */
const structured: [name: string, structured: string, result?: string][] = [
  ['an object', '{"a":1,"b":"two"}'],
  ['an empty object', '{}'],
  ['a wrapped list', '{"result":["a","b"]}', '["a","b"]'],
  ['a wrapped list of one', '{"result":["1"]}', '["1"]'],
  ['a wrapped empty list', '{"result":[]}', '[]'],
  ['a wrapped true', '{"result":true}', 'true'],
  ['a wrapped false', '{"result":false}', 'false'],
  ['a wrapped null', '{"result":null}', 'null'],
  ['a wrapped numeric string', '{"result":"1"}', '"1"'],
  ['a wrapped "true"', '{"result":"true"}', '"true"'],
  ['a wrapped empty text', '{"result":""}', '""'],
  ['a wrapped zero', '{"result":0}', '0'],
  ['a wrapped 1.0', '{"result":1.0}', '1.0'],
  ['a wrapped 1e400', '{"result":1e400}', '1e400'],
  ['a wrapped -0', '{"result":-0}', '-0'],
  ['a 20-digit integer', '{"n":12345678901234567890}'],
  ['odd numbers in a list', '{"list":[1.0,1e400,-1E-400,0.10,12345678901234567890]}'],
  ['a wrapped object in an object', '{"result":{"result":1}}', '{"result":1}'],
  ['a result beside others', '{"result":1,"more":2}'],
  ['deep nesting', `{"a":${'[{"b":'.repeat(100)}null${'}]'.repeat(100)}}`],
  ['unicode', '{"ü":"日本語 🎉 \\u2028 \\u0000 \\ud800"}'],
  ['names that JavaScript knows', '{"__proto__":{"x":1},"constructor":2,"toString":null}'],
  ['a list, which MCP does not allow', '["a","b"]'],
  ['a member named content', '{"content":[1],"isError":true}'],
];

/** Without structured content: one text that is an object or a list is parsed, everything else stays what it is. */
const texts: [name: string, text: string, result?: string][] = [
  ['a text', 'hello'],
  ['an empty text', ''],
  ['a text that reads true', 'true'],
  ['a text that reads null', 'null'],
  ['a text that reads 1', '1'],
  ['a text in quotes', '"quoted"'],
  ['a text that is a list', '["a", "b"]', '["a","b"]'],
  ['a text that is an object', ' {"n": 1e400, "m": 12345678901234567890}\n', '{"n":1e400,"m":12345678901234567890}'],
  ['a text that begins like an object', '{not json'],
  ['a text with surrogates, nulls and separators', '\ud83c\udf89\u0000\u2028\\"'],
];

/** The full list of blocks where one is no text. */
const blocks: [name: string, content: string, result?: string][] = [
  ['an image', `[${image}]`],
  ['audio', `[${audio}]`],
  ['a resource link', `[${link}]`],
  ['an embedded blob', `[${blob}]`],
  ['text and image', `[${text('see')},${image},${text('that')}]`],
  ['a kind of block that nobody knows', '[{"type":"hologram","depth":3.0}]'],
];

export const returnValues: ReturnValue[] = [
  ...structured.map(([name, value, result = value]) => ({
    name: `structured: ${name}`,
    given: `{"content":[],"structuredContent":${value}}`,
    result,
    content: null,
  })),
  ...structured.slice(0, 6).map(([name, value, result = value]) => ({
    name: `structured, and the same as text: ${name}`,
    given: `{"content":[${text(value)}],"structuredContent":${value}}`,
    result,
    content: null,
  })),
  {
    name: 'structured, and an image beside it',
    given: `{"content":[${image}],"structuredContent":{"a":1}}`,
    result: '{"a":1}',
    content: `[${image}]`,
  },
  ...texts.map(([name, value, result = JSON.stringify(value)]) => ({
    name: `text: ${name}`,
    given: `{"content":[${text(value)}]}`,
    result,
    content: null,
  })),
  {
    name: 'text: two, joined',
    given: `{"content":[${text('[1]')},${text('[2]')}]}`,
    result: JSON.stringify('[1]\n[2]'),
    content: `[${text('[1]')},${text('[2]')}]`,
  },
  ...blocks.map(([name, content, result = content]) => ({
    name: `blocks: ${name}`,
    given: `{"content":${content}}`,
    result,
    content: null,
  })),
  { name: 'blocks: none', given: '{"content":[]}', result: '[]', content: '[]' },
  { name: 'nothing at all', given: '{}', result: 'null', content: null },
];

import { oddValues } from '../odd-messages.js';

/** One message of the table, as raw text. */
export interface TableMessage {
  name: string;
  method: string;
  /** `§tool` and `§prompt` stand for the names under which the two are offered, `§uri` for the beginning of URIs. */
  params: string;
  /** What is answered, `"result":…` or `"error":…`. Left out: what the mirror sees. */
  answer?: string;
}

/** Of the large ones `differential.test.ts` sends all. */
const long = /a text of 1 MB$/;
const largest = /MB|10,000 keys|100,000/;
const call = (inner: string): string => `{"name":"§tool",${inner}}`;

/** Each odd value in what every kind of request says, and in what it is answered. */
const values: TableMessage[] = Object.entries(oddValues).flatMap(([name, value]) => {
  if (largest.test(name) && !long.test(name)) return [];
  const called = {
    name: `tools/call, ${name}`,
    method: 'tools/call',
    params: call(`"arguments":{"v":${value},"z":[${value}]},"x":${value},"_meta":{"y":${value}}`),
  };
  const answered = {
    name: `a result, ${name}`,
    method: 'tools/call',
    params: call('"arguments":{}'),
    answer: `"result":{"content":[{"type":"text","text":"t","x":${value},"_meta":{"y":${value}}}],"structuredContent":{"v":${value}},"z":${value},"_meta":{"y":${value}}}`,
  };
  if (long.test(name)) return [called, answered];
  return [
    called,
    answered,
    {
      name: `an error, ${name}`,
      method: 'tools/call',
      params: call('"arguments":{}'),
      answer: `"error":{"code":-1,"message":"no","data":${value},"x":[${value}]}`,
    },
    {
      name: `prompts/get, ${name}`,
      method: 'prompts/get',
      params: `{"name":"§prompt","arguments":{"v":${value}},"x":${value},"_meta":{"y":${value}}}`,
    },
    { name: `resources/read, ${name}`, method: 'resources/read', params: `{"uri":"§uri/one","x":${value},"_meta":{"y":${value}}}` },
    {
      name: `completion/complete, ${name}`,
      method: 'completion/complete',
      params: `{"ref":{"type":"ref/prompt","name":"§prompt","x":${value}},"argument":{"name":"a","value":"b","x":${value}},"context":{"arguments":{"c":${value}}}}`,
    },
  ];
});

const blocks: [string, string][] = [
  [
    'a text with annotations',
    '{"type":"text","text":"t","annotations":{"audience":["user"],"priority":0.50,"lastModified":"x","y":1},"_meta":{"a":1.0}}',
  ],
  ['an image', '{"type":"image","data":"AA==","mimeType":"image/png","x":1.0}'],
  ['audio', '{"type":"audio","data":"","mimeType":"audio/wav"}'],
  [
    'a resource link',
    '{"type":"resource_link","uri":"a:b","name":"n","title":"T","size":12345678901234567890,"icons":[{"src":"data:,"}],"x":1}',
  ],
  ['an embedded resource', '{"type":"resource","resource":{"uri":"a:b","blob":"AA==","mimeType":"x/y","_meta":{"z":1.0},"x":1}}'],
  ['a use of a tool', '{"type":"tool_use","id":"1","name":"n","input":{"a":1.0}}'],
  ['a result of a tool', '{"type":"tool_result","toolUseId":"1","content":[{"type":"text","text":""}],"isError":false}'],
  ['an unknown type', '{"type":"video/3d","frames":[1.0,null]}'],
  ['no type', '{"x":1.0}'],
  ['null', 'null'],
];

/** Whatever content there is, wherever it may stand. */
const contents: TableMessage[] = blocks.flatMap(([name, block]) => [
  {
    name: `content of a tool: ${name}`,
    method: 'tools/call',
    params: call('"arguments":{}'),
    answer: `"result":{"content":[${block},${block}],"isError":true}`,
  },
  {
    name: `a message of a prompt: ${name}`,
    method: 'prompts/get',
    params: '{"name":"§prompt"}',
    answer: `"result":{"messages":[{"role":"assistant","content":${block},"x":1.0}]}`,
  },
  {
    name: `contents of a resource: ${name}`,
    method: 'resources/read',
    params: '{"uri":"§uri/two"}',
    answer: `"result":{"contents":[${block}],"x":1.0}`,
  },
]);

const structured: TableMessage[] = ['{}', '{"a":1.0,"b":[{}]}', '[]', '[1.0,null]', '"t"', '1.0', 'true', 'null'].map((value) => ({
  name: `structured content ${value}`,
  method: 'tools/call',
  params: call('"arguments":{}'),
  answer: `"result":{"content":[],"structuredContent":${value}}`,
}));

const codes = [
  '-32700',
  '-32600',
  '-32601',
  '-32602',
  '-32603',
  '-32000',
  '-32001',
  '-32002',
  '-32042',
  '-32099',
  '-1',
  '0',
  '1',
  '1.0',
  '1e3',
  '2147483648',
];
const errors: TableMessage[] = codes.flatMap((code) =>
  (['tools/call', 'prompts/get'] as const).map((method) => ({
    name: `an error ${code} of ${method}`,
    method,
    params: method === 'tools/call' ? call('"arguments":{}') : '{"name":"§prompt"}',
    answer: `"error":{"code":${code},"message":"m\\u0000👍","data":{"code":"theirs","x":1.0},"y":null}`,
  })),
);

const argumentsOfCalls: TableMessage[] = ['null', '[]', '[1.0]', '"a"', '1.0', 'true', '{}'].map((value) => ({
  name: `arguments that are ${value}`,
  method: 'tools/call',
  params: call(`"arguments":${value}`),
}));

const metas: TableMessage[] = [
  '{"traceparent":"00-1-2-01","tracestate":"a=b","baggage":"x"}',
  '{"a.b/c":{"d":1.0},"io.example/x":[],"progress":1}',
  `{${Array.from({ length: 500 }, (_, at) => `"k/${at}":${at}.0`).join(',')}}`,
].flatMap((meta, at) => [
  { name: `_meta ${at} of a call`, method: 'tools/call', params: call(`"_meta":${meta}`) },
  { name: `_meta ${at} of a prompt`, method: 'prompts/get', params: `{"name":"§prompt","_meta":${meta}}` },
  { name: `_meta ${at} of a resource`, method: 'resources/read', params: `{"uri":"§uri/one","_meta":${meta}}` },
]);

const uris = ['/one', '/two', '/unlisted', '/a%20b?c=d#e', '/名前', '', '/\\u0000', `/${'x'.repeat(5000)}`];
const reads: TableMessage[] = uris.map((uri, at) => ({
  name: `a resource ${at}`,
  method: 'resources/read',
  params: `{"uri":"§uri${uri}"}`,
}));

const completions: TableMessage[] = [
  '"argument":{"name":"a","value":""}',
  '"argument":{"name":"a","value":"👍\\u0000"},"context":{}',
  '"argument":{"name":"a","value":"b"},"context":{"arguments":{"owner":"x","__proto__":"y"}}',
  '"argument":{"name":"a","value":"b"},"context":{"arguments":{},"x":1.0},"y":[1.0]',
  '"argument":null',
  '"x":1',
].flatMap((rest, at) => [
  { name: `completion ${at} of a prompt`, method: 'completion/complete', params: `{"ref":{"type":"ref/prompt","name":"§prompt"},${rest}}` },
  {
    name: `completion ${at} of a template`,
    method: 'completion/complete',
    params: `{"ref":{"type":"ref/resource","uri":"§uri/{one}"},${rest}}`,
  },
]);

const unknown: TableMessage[] = [
  'x',
  'x/odd',
  'tools/of_the_future',
  'resources/write',
  'rpc.discover',
  'notifications/x',
  '__proto__',
  'constructor',
  'roots/list',
  'sampling/createMessage',
  'elicitation/create',
].map((method) => ({ name: `an unknown method ${method}`, method, params: '{"a":1.0}' }));

const names: TableMessage[] = ['"§tool2"', '"none"', '""', '"__proto__"', '"toString"', '1', 'null', '{}'].flatMap((name) => [
  { name: `an unknown tool ${name}`, method: 'tools/call', params: `{"name":${name},"arguments":{}}` },
  { name: `an unknown prompt ${name}`, method: 'prompts/get', params: `{"name":${name}}` },
]);

const lists: TableMessage[] = ['tools/list', 'resources/list', 'resources/templates/list', 'prompts/list'].flatMap((method) => [
  { name: `all of ${method}`, method, params: '{}' },
  { name: `a cursor of nobody in ${method}`, method, params: '{"cursor":"of nobody"}' },
]);

export const tableMessages: readonly TableMessage[] = [
  ...values,
  ...contents,
  ...structured,
  ...errors,
  ...argumentsOfCalls,
  ...metas,
  ...reads,
  ...completions,
  ...unknown,
  ...names,
  ...lists,
];

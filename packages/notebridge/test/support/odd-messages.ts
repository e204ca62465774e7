/** One request and its answer, as raw texts: legal JSON and legal JSON-RPC, but nothing that anyone would write. */
export interface OddMessage {
  name: string;
  /** Default `tools/call`. */
  method?: string;
  /** The text of `params`. */
  params: string;
  /** The text of the answer's member: `"result":…` or `"error":…`. */
  answer: string;
  /** The result as an agent of the legacy era gets it, where its clients would refuse what was answered. */
  legacyResult?: string;
  /** True if engines order or merge its keys: then it is compared as a value, numbers still to the letter. */
  isReordered?: boolean;
}

const long = 'x'.repeat(1_048_576);
const nested = (open: string, close: string, depth: number): string => `${open.repeat(depth)}0${close.repeat(depth)}`;

/** Values that have broken bridges: numbers, strings, keys, shapes. */
export const oddValues: Record<string, string> = {
  'a float that is whole': '1.0',
  'a fraction that ends in zeros': '1.500',
  'more than the largest double': '1e400',
  'less than the smallest double': '-1E-400',
  'twenty digits': '12345678901234567890',
  'a negative beyond 2^53': '-9007199254740993',
  'forty digits after the point': '0.1000000000000000055511151231257827021181',
  'minus zero': '-0',
  'minus zero point zero': '-0.0',
  'an exponent': '1e5',
  'an upper-case exponent with plus': '1E+05',
  'an exponent of zero': '1e0',
  'zero with an exponent': '0e-1',
  'an ordinary number': '-12.25',
  'numbers in a list': '[1,1.0,1.00,10e-1,0.1e1]',
  'a number that looks like a text': '"1.0"',
  'an empty text': '""',
  'an emoji': '"👩‍👩‍👧‍👦 🏳️‍🌈"',
  'an escaped emoji': '"\\ud83d\\ude00"',
  'a lone high surrogate': '"\\ud800"',
  'a lone low surrogate': '"a\\udc00b"',
  'surrogates the wrong way round': '"\\udc00\\ud800"',
  'NUL and friends': '"\\u0000\\u0001\\u001f\\u007f"',
  'line separators': '"\u2028\u2029"',
  'escaped line separators': '"\\u2028\\u2029"',
  'line breaks': '"\\n\\r\\n\\t\\b\\f"',
  'escaped slashes and letters': '"\\/\\u0041\\u00e9\\"\\\\"',
  'a backslash before the end': '"\\\\"',
  'a text of JSON': '"{\\"a\\":1.0,\\"b\\":[1e400]}"',
  'a byte order mark': '"\uFEFFa\\ufeff"',
  'right-to-left and combining marks': '"\u202Eabc e\u0301"',
  'markup and templates': '"<script>${a}%s{{b}}\'--"',
  'a key __proto__': '{"__proto__":{"polluted":true},"a":1}',
  'a key __proto__ with an exact number': '{"__proto__":1.0,"__proto":2}',
  'keys of Object.prototype': '{"constructor":1,"toString":"x","hasOwnProperty":null,"valueOf":[],"toJSON":{"a":1}}',
  'keys of the protocol': '{"jsonrpc":"1.0","id":null,"method":"x","params":[],"result":1,"error":{}}',
  'an empty key': '{"":{"":{"":""}}}',
  'keys that look the same': '{"é":1,"e\u0301":2,"E":3,"e":4," e":5}',
  'a key with everything': '{"\\u0000\\n\\"👍\u2028":1.0}',
  'keys that are numbers': '{"2":"b","1":"a","-1":"c","1.0":"d","01":"e"}',
  'a key twice': '{"a":1.0,"b":2,"a":3.0}',
  'a key twice, once escaped': '{"a":1,"\\u0061":2}',
  'an empty object': '{}',
  'an empty list': '[]',
  'empty things in empty things': '[[],{},[[]],[{}],{"a":[]},{"a":{}}]',
  nulls: '[null,{"a":null},[null]]',
  'all kinds in one list': '[true,false,null,0,"",[],{}]',
  '500 lists deep': nested('[', ']', 500),
  '500 objects deep': nested('{"a":', '}', 500),
  '10,000 keys': `{${Array.from({ length: 10_000 }, (_, index) => `"key ${index}":${index}`).join(',')}}`,
  '100,000 numbers': `[${Array.from({ length: 100_000 }, (_, index) => `${index}.0`).join(',')}]`,
  'a text of 1 MB': `"${long}"`,
  'a text of 1 MB, all escapes': `"${'\\u0001\\"'.repeat(150_000)}"`,
  'a text of 1 MB, all emoji': `"${'🦊'.repeat(262_144)}"`,
  'a key of 1 MB': `{"${long}":1.0}`,
  'white space everywhere': ' {\t"a" :\t[ 1.0 ,  2 , { } ] , "b" : "c d" } ',
};

const reordered = new Set(['keys that are numbers', 'a key twice', 'a key twice, once escaped']);

/** Each odd value where a tool's arguments, its result, unknown members and an error's data are. */
const everywhere: OddMessage[] = Object.entries(oddValues).map(([name, value]) => ({
  name,
  params: `{"name":"odd","arguments":{"value":${value},"after":1},"x":${value},"_meta":{"y":${value}}}`,
  answer: `"result":{"content":[{"type":"text","text":"t","x":${value}}],"structuredContent":{"value":${value}},"z":${value}}`,
  isReordered: reordered.has(name),
}));

const inErrors: OddMessage[] = Object.entries(oddValues).map(([name, value]) => ({
  name: `${name}, in an error and in a list`,
  method: 'x/odd',
  params: `[${value},"last"]`,
  answer: `"error":{"code":-1,"message":"no","data":${value},"x":[${value}]}`,
  isReordered: reordered.has(name),
}));

const text = '"result":{"content":[]}';
const call = '{"name":"odd","arguments":{}}';

const shapes: OddMessage[] = [
  { name: 'arguments that are missing', params: '{"name":"odd"}', answer: text },
  { name: 'arguments that are null', params: '{"name":"odd","arguments":null}', answer: text },
  { name: 'arguments that are a list', params: '{"name":"odd","arguments":[1.0,"a"]}', answer: text },
  { name: 'arguments that are a text', params: '{"name":"odd","arguments":"a"}', answer: text },
  { name: 'members in another order', params: '{"_meta":{},"arguments":{"b":1,"a":2},"name":"odd"}', answer: text },
  { name: 'a tool without a name', params: '{"arguments":{}}', answer: text },
  { name: 'a tool whose name is a number', params: '{"name":1.0}', answer: text },
  { name: 'a tool whose name is null', params: '{"name":null}', answer: text },
  { name: 'a tool whose name is an object', params: '{"name":{"toString":1,"valueOf":2}}', answer: text },
  ...['', ' ', 'a b', 'a/b.c:d', '__proto__', 'constructor', '名前 👍', 'x'.repeat(10_000), '\\u0000', '../..', 'tools/call'].map(
    (name) => ({
      name: `a tool named "${name.slice(0, 20)}"`,
      params: `{"name":"${name}","arguments":{}}`,
      answer: text,
    }),
  ),
  { name: 'a _meta that is null', params: '{"name":"odd","_meta":null}', answer: text },
  { name: 'a _meta that is a list', params: '{"name":"odd","_meta":[1.0]}', answer: text },
  {
    name: 'a _meta of 1,000 keys',
    params: `{"name":"odd","_meta":{${Array.from({ length: 1000 }, (_, i) => `"a.b/${i}":${i}.0`).join(',')}}}`,
    answer: text,
  },
  {
    name: 'a _meta with keys of the spec',
    params: '{"name":"odd","_meta":{"traceparent":"00-1","io.modelcontextprotocol/x":1.0}}',
    answer: text,
  },
  {
    name: 'params of 200 unknown keys',
    params: `{"name":"odd",${Array.from({ length: 200 }, (_, i) => `"x${i}":[${i}.0]`).join(',')}}`,
    answer: text,
  },
  { name: 'params that are empty', method: 'x/odd', params: '{}', answer: text },
  { name: 'params that are an empty list', method: 'x/odd', params: '[]', answer: text },
  { name: 'a method of one letter', method: 'x', params: '{"a":1.0}', answer: text },
  { name: 'an empty method', method: '', params: '{"a":1.0}', answer: text },
  { name: 'a method in Unicode', method: '方法/👍', params: '{"a":1.0}', answer: text },
  { name: 'a method __proto__', method: '__proto__', params: '{"a":1.0}', answer: text },
  { name: 'a result that is empty', params: call, answer: '"result":{}' },
  { name: 'a result beside an error that is null', params: call, answer: '"result":{"a":1.0},"error":null' },
  { name: 'a result without content', params: call, answer: '"result":{"structuredContent":{"a":1.0}}' },
  { name: 'content that is null', params: call, answer: '"result":{"content":null,"isError":null,"_meta":null}' },
  { name: 'content that is no list', params: call, answer: '"result":{"content":{"type":"text"}}' },
  { name: 'content of no type', params: call, answer: '"result":{"content":[null,1.0,"a",[],{}]}' },
  {
    name: 'unknown content types',
    params: call,
    answer: '"result":{"content":[{"type":"video","url":"a:b"},{"type":"","x":1.0},{"type":7}]}',
  },
  {
    name: 'an image, audio, a link, a resource, annotations',
    params: call,
    answer: `"result":{"content":[{"type":"image","data":"${'iVBOR'.repeat(20_000)}","mimeType":"image/png","annotations":{"audience":["user"],"priority":1.0,"x":null}},{"type":"audio","data":"","mimeType":"audio/wav"},{"type":"resource_link","uri":"a:b","name":"n","size":12345678901234567890},{"type":"resource","resource":{"uri":"a:b","blob":"AA==","x":1}}]}`,
  },
  {
    name: 'a result with keys of the next era',
    params: call,
    answer: '"result":{"content":[],"resultType":"complete","ttlMs":1.0,"cacheScope":"x"}',
  },
  {
    name: 'structured content that is a list',
    params: call,
    answer: '"result":{"structuredContent":[1.0,null],"content":[]}',
    legacyResult: '{"content":[{"type":"text","text":"[1.0,null]"}],"structuredContent":{"result":[1.0,null]}}',
  },
  { name: 'isError that is a text', params: call, answer: '"result":{"content":[],"isError":"yes"}' },
  {
    name: 'outputs of a notebook',
    method: 'tools/call',
    params: call,
    answer: `"result":{"content":[{"type":"text","text":"{\\"outputs\\":[{\\"data\\":{\\"text/html\\":[\\"<b>\\\\n\\"]}}]}"}]}`,
  },
  ...[
    '-32700',
    '-32600',
    '-32601',
    '-32603',
    '-32000',
    '-32022',
    '0',
    '1.0',
    '1e3',
    '-2147483649',
    '12345678901234567890',
    'null',
    '"E_TEXT"',
    '[]',
  ].map((code) => ({
    name: `an error with the code ${code}`,
    params: call,
    answer: `"error":{"code":${code},"message":"m"}`,
  })),
  { name: 'an error without anything', params: call, answer: '"error":{}' },
  { name: 'an error without a code', params: call, answer: '"error":{"message":"","data":null}' },
  { name: 'an error whose message is an object', params: call, answer: '"error":{"code":1,"message":{"toString":1}}' },
  {
    name: 'an error with a stack and unknown keys',
    params: call,
    answer: '"error":{"stack":"Error\\n at x","cause":{"code":2.0},"code":-1,"message":"m","__proto__":{"a":1}}',
  },
  { name: 'an error beside a result that is null', params: call, answer: '"result":null,"error":{"code":-5,"message":"m"}' },
  { name: 'an error of 1 MB', params: call, answer: `"error":{"code":-1,"message":"${long}","data":{"a":"${long}"}}` },
  ...[
    'resources/read',
    'resources/subscribe',
    'prompts/get',
    'completion/complete',
    'tasks/of_the_future',
    'notifications/x',
    'rpc.discover',
  ].map((method) => ({
    name: `${method} with unknown keys both ways`,
    method,
    params: '{"uri":"a:b","name":"n","argument":{"name":"a","value":""},"x":[1.0,null]}',
    answer:
      '"result":{"contents":[{"uri":"a:b","x":1.0}],"messages":[{"role":"robot","content":{"type":"y"}}],"completion":{"values":[1.0],"total":1e400}}',
  })),
];

const large: OddMessage[] = [
  {
    name: '12 MB both ways',
    params: `{"name":"odd","arguments":{"value":"${long.repeat(12)}"}}`,
    answer: `"result":{"content":[{"type":"text","text":"${long.repeat(12)}"}]}`,
  },
];

export const oddMessages: OddMessage[] = [...everywhere, ...inErrors, ...shapes, ...large];

/** Ids that an agent may give a request, as raw texts. */
export const oddIds: string[] = [
  ...['0', '1', '-1', '1.5', '1.0', '-0', '1e3', '1E400', '12345678901234567890', '-0.0', '9007199254740993'],
  ...[
    '""',
    '" "',
    '"1"',
    '"1.0"',
    '"null"',
    '"__proto__"',
    '"a\\u0000b"',
    '"👍"',
    '"\u2028"',
    '"\\\\ud800"',
    '"id\\n2"',
    `"${'i'.repeat(10_000)}"`,
  ],
];

import { MemoryProvider, type RunnableTool } from '@notebridge/protocol/core/memory-provider';
import { parseJson } from '@notebridge/protocol/exact-json';
import type { JsonObject } from '@notebridge/protocol/json';

const anything = { type: 'object' };

/** What `echo` answers besides its arguments: much that nobody on the way knows. */
export const echoExtras = parseJson(`{
  "content": [{ "type": "text", "text": "ключ", "x-block": 1 }, { "type": "of_the_future", "payload": [null, { "a": "" }] }],
  "_meta": { "example.com/key": { "deep": [true] } },
  "x-result": { "big": 12345678901234567890, "float": 1.0, "tiny": 1e-7 }
}`) as JsonObject;

/** A tool as it is listed: keys that nobody on the way knows included. */
export const listedEcho: JsonObject & { name: string; inputSchema: JsonObject } = {
  name: 'echo',
  title: 'Echo',
  description: 'Answers with its arguments.',
  inputSchema: { type: 'object', properties: { a: { type: 'number', 'x-widget': 'slider' } }, additionalProperties: true },
  outputSchema: { type: 'object' },
  annotations: { readOnlyHint: true, 'x-hint': 1 },
  icons: [{ src: 'data:,', sizes: ['any'] }],
  _meta: { kept: true },
  'x-tool': null,
};

/**
 * What a provider under contract must have at its far end. A provider that reaches another program has that program serve
 * this; all that the suite needs to see or to cause there it does by calling tools.
 */
export function createContractSource(): MemoryProvider {
  let waiting = 0;
  const tools: RunnableTool[] = [
    { ...listedEcho, run: async (args) => ({ ...echoExtras, structuredContent: { arguments: args } }) },
    {
      name: 'fail',
      inputSchema: anything,
      run: async () => ({ content: [{ type: 'text', text: 'It failed.' }], isError: true, _meta: { why: 'told' } }),
    },
    {
      name: 'steps',
      inputSchema: anything,
      async run(_, context) {
        for (const progress of [1, 2, 3]) context.forwardProgress({ progress, total: 3, message: `step ${progress}`, 'x-kept': progress });
        return { content: [] };
      },
    },
    {
      name: 'wait',
      description: 'Ends when it is cancelled.',
      inputSchema: anything,
      run: (_, context) =>
        new Promise(() => {
          waiting++;
          context.cancellation.onCancel(() => waiting--);
        }),
    },
    { name: 'count_waiting', inputSchema: anything, run: async () => ({ structuredContent: { waiting } }) },
    {
      name: 'change_tools',
      inputSchema: anything,
      async run() {
        source.setTools(tools.filter(({ name }) => name !== 'fail'));
        return { content: [] };
      },
    },
  ];
  const source = new MemoryProvider({
    tools,
    resources: [{ uri: 'memory://a', name: 'a', 'x-resource': 1, read: async () => [{ uri: 'memory://a', text: 'A', 'x-contents': [] }] }],
    prompts: [
      {
        name: 'greet',
        arguments: [{ name: 'who', required: true }],
        'x-prompt': 1,
        fill: async ({ who }) => [{ role: 'user', content: { type: 'text', text: `Hello ${String(who)}` }, 'x-message': 1 }],
      },
    ],
  });
  return source;
}

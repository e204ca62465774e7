// Code mode in an agent of your own, with the Vercel AI SDK: three tools in place of all those of your servers. The model is a script, so that
// this runs without a key and checks itself; put yours in its place. node examples/code-mode-agent.mjs
import assert from 'node:assert/strict';
import { generateText, stepCountIs } from 'ai';
import { MockLanguageModelV3 } from 'ai/test';
import { createCodeMode, MemoryToolServer, toAiSdkTools } from 'notebridge';
import { say, short } from './support/show.mjs';

const orders = Array.from({ length: 200 }, (_, id) => ({ id, country: ['Chile', 'Ghana', 'Latvia'][id % 3], euros: (id * 37) % 90 }));
const shop = new MemoryToolServer({
  name: 'shop',
  tools: [
    {
      name: 'list_orders',
      description: 'Lists the ids of all orders.',
      inputSchema: { type: 'object' },
      run: async () => ({ content: [], structuredContent: { ids: orders.map(({ id }) => id) } }),
    },
    {
      name: 'get_order',
      description: 'One order: its country, and its price in euros.',
      inputSchema: { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] },
      run: async ({ id }) => ({ content: [], structuredContent: orders[Number(id)] }),
    },
  ],
});

const code = `import asyncio, collections
from generated.mcp.shop import get_order, list_orders
ids = (await list_orders())["ids"]
totals = collections.Counter()
for order in await asyncio.gather(*(get_order(id=id) for id in ids)):
    totals[order["country"]] += order["euros"]
dict(totals)`;

const codeMode = await createCodeMode({ servers: [shop] });
try {
  const { text, steps } = await generateText({
    model: scriptedModel([
      ['search_tools', { query: 'list orders, price of an order' }],
      ['describe_tools', { tools: ['shop.list_orders', 'shop.get_order'] }],
      ['execute_code', { code }],
    ]),
    system: codeMode.instructions,
    tools: toAiSdkTools(codeMode),
    stopWhen: stepCountIs(10),
    prompt: 'How many euros came from each country?',
  });
  for (const { toolCalls, toolResults } of steps) {
    for (const { toolName, input } of toolCalls) say('model →', `${toolName} ${short(JSON.stringify(input))}`);
    for (const { output } of toolResults) say('tool  ←', short(output.content.map((block) => block.text).join('\n')));
  }
  say('model', text);

  const expected = {};
  for (const { country, euros } of orders) expected[country] = (expected[country] ?? 0) + euros;
  assert.deepEqual(JSON.parse(text.replaceAll("'", '"')), expected);
  const { structuredContent } = steps[2].toolResults[0].output;
  assert.equal(structuredContent.calls, 201);
  console.log('\nDone: 201 calls of tools by three of the model. The result was checked.');
} finally {
  await codeMode.close();
}

/** Calls these tools, one a step, and answers what the last of them did. */
function scriptedModel(calls) {
  const usage = { inputTokens: { total: 0 }, outputTokens: { total: 0 } };
  const left = [...calls];
  return new MockLanguageModelV3({
    doGenerate: async ({ prompt }) => {
      const [toolName, input] = left.shift() ?? [];
      if (toolName !== undefined) {
        const content = [{ type: 'tool-call', toolCallId: String(calls.length - left.length), toolName, input: JSON.stringify(input) }];
        return { content, finishReason: { unified: 'tool-calls' }, usage, warnings: [] };
      }
      const { output } = prompt.at(-1).content.at(-1);
      return { content: [{ type: 'text', text: output.value[0].text }], finishReason: { unified: 'stop' }, usage, warnings: [] };
    },
  });
}

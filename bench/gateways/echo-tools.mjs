import { textOfSize } from './text.mjs';

const tool = (name, description, property) => ({
  name,
  description,
  inputSchema: { type: 'object', properties: property, required: Object.keys(property) },
  annotations: { readOnlyHint: true },
});
export const tools = [
  tool('echo', 'Returns its text.', { text: { type: 'string' } }),
  tool('payload', 'Returns size characters of text.', { size: { type: 'integer' } }),
];
const printedTexts = new Map();

/** An MCP server of two tools: takes parsed messages, says printed ones to `say`. A payload is printed once, however often it is asked for. */
export function createEcho(say) {
  const answer = (id, printed) => say(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${printed}}`);
  const answerText = (id, printed) => answer(id, `{"content":[{"type":"text","text":${printed}}]}`);

  return ({ id, method, params }) => {
    if (id === undefined || method === undefined) return;
    if (method === 'tools/call' && params.name === 'echo') return answerText(id, JSON.stringify(params.arguments.text));
    if (method === 'tools/call' && params.name === 'payload') return answerText(id, printedText(params.arguments.size));
    if (method === 'tools/list') return answer(id, JSON.stringify({ tools }));
    if (method === 'ping') return answer(id, '{}');
    if (method === 'initialize') {
      const serverInfo = { name: 'bench-echo', version: '1.0.0' };
      return answer(id, JSON.stringify({ protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo }));
    }
    say(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: `Method not found: ${method}` } }));
  };
}

function printedText(size) {
  if (!printedTexts.has(size)) printedTexts.set(size, JSON.stringify(textOfSize(size)));
  return printedTexts.get(size);
}

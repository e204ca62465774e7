// The smallest server that can ask: `node asking-server.mjs legacy|modern`. Two tools: `plain` answers at once, `ask` has a form filled in first.
import { createInterface } from 'node:readline';

const isModern = process.argv[2] === 'modern';
const form = { mode: 'form', message: 'Name?', requestedSchema: { type: 'object', properties: { name: { type: 'string' } } } };
const capabilities = { tools: {} };
const tools = ['plain', 'ask'].map((name) => ({ name, inputSchema: { type: 'object' } }));
/** By the id of the question, that of its call. */
const asked = new Map();
let questions = 0;

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const done = (id, name) => send({ id, result: { content: [{ type: 'text', text: name }], ...(isModern && { resultType: 'complete' }) } });

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params, result, error } = JSON.parse(line);
  if (method === undefined) {
    const call = asked.get(id);
    asked.delete(id);
    return done(call, result?.content?.name ?? JSON.stringify(error));
  }
  if (id === undefined) return;
  if (method === 'server/discover' && isModern)
    return send({ id, result: { resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities } });
  if (method === 'initialize' && !isModern)
    return send({ id, result: { protocolVersion: params.protocolVersion, capabilities, serverInfo: { name: 'asking', version: '1' } } });
  if (method === 'tools/list')
    return send({ id, result: { tools, ...(isModern && { resultType: 'complete', ttlMs: 0, cacheScope: 'private' }) } });
  if (method !== 'tools/call') return send({ id, error: { code: -32601, message: `No method ${method}` } });
  if (params.name === 'plain') return done(id, 'plain');
  if (isModern) {
    const answer = params.inputResponses?.form?.content?.name;
    if (answer !== undefined) return done(id, answer);
    return send({ id, result: { resultType: 'input_required', inputRequests: { form: { method: 'elicitation/create', params: form } } } });
  }
  const question = `q${++questions}`;
  asked.set(question, id);
  send({ id: question, method: 'elicitation/create', params: form });
});

// An agent on stdio that fills in every form at once: raw JSON lines, of one era.
import { createInterface } from 'node:readline';
import { within } from '../lib/children.mjs';

const capabilities = { elicitation: { form: {} } };
const clientInfo = { name: 'bench', version: '1' };
const envelope = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': clientInfo,
  'io.modelcontextprotocol/clientCapabilities': capabilities,
};
const answer = { action: 'accept', content: { name: 'Ann' } };

export class AskedAgent {
  #waiting = new Map();
  #lastId = 0;
  #isModern;

  constructor(child, era) {
    this.child = child;
    this.#isModern = era === 'modern';
    createInterface({ input: child.stdout }).on('line', (line) => this.#take(JSON.parse(line)));
  }

  async open() {
    if (this.#isModern) return void (await this.#request('server/discover', {}));
    await this.#request('initialize', { protocolVersion: '2025-11-25', capabilities, clientInfo });
    this.#send({ method: 'notifications/initialized' });
  }

  /** Resolves when the tool has answered; throws for any other answer than the one it must give. */
  async call(tool, expected) {
    let result = await this.#request('tools/call', { name: tool, arguments: {} });
    if (result.resultType === 'input_required') {
      const inputResponses = Object.fromEntries(Object.keys(result.inputRequests).map((key) => [key, answer]));
      const { requestState } = result;
      result = await this.#request('tools/call', {
        name: tool,
        arguments: {},
        inputResponses,
        ...(requestState === undefined ? {} : { requestState }),
      });
    }
    if (result.content?.[0]?.text !== expected) throw new Error(`"${tool}" answered ${JSON.stringify(result)}.`);
  }

  #request(method, params) {
    const id = ++this.#lastId;
    const answered = new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
    this.#send({ id, method, params: this.#isModern ? { ...params, _meta: envelope } : params });
    return answered;
  }

  #send(message) {
    this.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }

  #take({ id, method, result, error }) {
    if (method === 'elicitation/create') return this.#send({ id, result: answer });
    if (method !== undefined) return;
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error !== undefined) waiting?.reject(new Error(JSON.stringify(error)));
    else waiting?.resolve(result);
  }
}

/** How long one turn of calls took and how many there were. */
export async function turn(agent, { tool, expected, ms }) {
  let calls = 0;
  const began = performance.now();
  while (performance.now() - began < ms) {
    await within(10_000, `an answer of "${tool}"`, agent.call(tool, expected));
    calls++;
  }
  return { calls, ms: performance.now() - began };
}

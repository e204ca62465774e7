import { textOfSize } from './payload.mjs';

/** A raw JSON-RPC client on the stdio of a child. It costs the same for every target, and it checks every answer. */
export class Agent {
  #child;
  #waiting = new Map();
  #lastId = 0;
  #started = '';
  #error;

  constructor(child) {
    this.#child = child;
    child.stdout.setEncoding('utf8').on('data', (chunk) => this.#read(chunk));
    child.once('exit', (code, signal) => this.#fail(new Error(`The program ended (${signal ?? code}). It said: ${child.complaints}`)));
    child.once('error', (error) => this.#fail(error));
  }

  request(method, params) {
    return new Promise((resolve, reject) => {
      if (this.#error !== undefined) return reject(this.#error);
      const id = ++this.#lastId;
      this.#waiting.set(id, { resolve, reject });
      this.#child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    });
  }

  notify(method) {
    this.#child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method })}\n`);
  }

  /** Answers what the server says of itself. */
  async initialize() {
    const clientInfo = { name: 'bench', version: '1' };
    const { result } = await this.request('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
    this.notify('notifications/initialized');
    return result;
  }

  /** Calls `echo` with a text that no other call has. */
  async echo() {
    const text = `hello, bridge: a short call, no. ${this.#lastId}`;
    expectText(await this.request('tools/call', { name: 'echo', arguments: { text } }), text);
  }

  /** Calls `payload` for a text of that size. */
  async payload(size) {
    expectText(await this.request('tools/call', { name: 'payload', arguments: { size } }), textOfSizeOnce(size));
  }

  /** Looks for line ends in the new chunk only: a megabyte comes in many. */
  #read(chunk) {
    let from = 0;
    for (let end = chunk.indexOf('\n'); end >= 0; end = chunk.indexOf('\n', from)) {
      const line = this.#started + chunk.slice(from, end);
      this.#started = '';
      from = end + 1;
      this.#take(line);
    }
    this.#started += chunk.slice(from);
  }

  #take(line) {
    let message;
    try {
      message = JSON.parse(line);
    } catch {
      return this.#fail(new Error(`On stdout came something that is not JSON: ${line.slice(0, 200)}`));
    }
    if (message.method !== undefined) return;
    const call = this.#waiting.get(message.id);
    if (call === undefined) return this.#fail(new Error(`An answer came that nobody waits for: ${line.slice(0, 200)}`));
    this.#waiting.delete(message.id);
    call.resolve(message);
  }

  #fail(error) {
    this.#error ??= error;
    for (const { reject } of this.#waiting.values()) reject(this.#error);
    this.#waiting.clear();
  }
}

function expectText(answer, text) {
  const found = answer.result?.content?.[0]?.text;
  if (found !== text || answer.result.isError === true) throw new Error(`A wrong answer: ${JSON.stringify(answer).slice(0, 300)}`);
}

const texts = new Map();
function textOfSizeOnce(size) {
  if (!texts.has(size)) texts.set(size, textOfSize(size));
  return texts.get(size);
}

import { Client, deserializeMessage, serializeMessage, type Transport } from '@modelcontextprotocol/client';
import type { JsonObject } from '@notebridge/notebook';
import { ChildProgram, type ChildProgramOptions } from './child-program.js';
import { mismatch } from './expect.js';

/** A tool's answer as an agent reads it. */
export interface ToolAnswer {
  /** The first text; parsed if it is a JSON object. */
  value: JsonObject;
  text: string;
  /** All of them. */
  texts: string[];
  images: { data: string; mimeType: string }[];
  failed: boolean;
}

export interface DemoAgentOptions extends ChildProgramOptions {
  /** Is notified of each call before it is made, but of those that are made quietly: to check, not to work. */
  onUse?: (tool: string, args: JsonObject) => void;
}

/** An agent with its host: starts a Notebridge as a child process, and speaks MCP with it over stdin and stdout. */
export class DemoAgent {
  /** What came on the child's stdout that is no message, or no answer to a question: there must be nothing. */
  readonly noise: string[] = [];
  readonly #child: ChildProgram;
  readonly #client = new Client({ name: 'demo-agent', title: 'Demo agent', version: '1' });
  readonly #onUse: DemoAgentOptions['onUse'];

  constructor(command: string, args: readonly string[], options: DemoAgentOptions) {
    this.#onUse = options.onUse;
    this.#child = new ChildProgram(command, args, options);
    this.#client.onerror = ({ message }) => void this.noise.push(message);
  }

  /** Resolves when the child has ended. */
  get ended(): Promise<string> {
    return this.#child.ended;
  }

  /** Rejects if it is not answered. */
  async initialize(): Promise<{ server: string; protocolVersion: string | undefined }> {
    await this.#answered('initialize', this.#client.connect(toTransport(this.#child)));
    const { name, version } = this.#client.getServerVersion() ?? {};
    return { server: `${name} ${version}`, protocolVersion: this.#client.getNegotiatedProtocolVersion() };
  }

  async toolNames(): Promise<string[]> {
    return (await this.offers()).tools.map(({ name }) => String(name));
  }

  /** What a model reads before its first word. */
  async offers(): Promise<{ tools: JsonObject[]; instructions: string }> {
    const { tools } = await this.#answered('tools/list', this.#client.listTools());
    return { tools: tools.map((tool) => ({ ...tool })), instructions: this.#client.getInstructions() ?? '' };
  }

  /** Calls a tool. A tool that failed is an answer too: `failed`. */
  async use(name: string, args: JsonObject = {}, { quietly = false } = {}): Promise<ToolAnswer> {
    if (!quietly) this.#onUse?.(name, args);
    const { content, isError } = await this.#answered('tools/call', this.#client.callTool({ name, arguments: args }));
    const texts = content.flatMap((block) => (block.type === 'text' ? [block.text] : []));
    const [text = ''] = texts;
    return { value: parseObject(text), text, texts, images: content.filter((block) => block.type === 'image'), failed: isError === true };
  }

  /** As `use`, for a tool that has to work. */
  async succeed(name: string, args: JsonObject = {}, options: { quietly?: boolean } = {}): Promise<ToolAnswer> {
    const answer = await this.use(name, args, options);
    if (answer.failed) throw mismatch(`"${name}" to work`, answer.text);
    return answer;
  }

  /** Hangs up, as an agent host does, and waits for the child's end; after `timeoutMs` it is killed. Closing twice is harmless. */
  async close(timeoutMs?: number): Promise<string> {
    await this.#client.close();
    return this.#child.close(timeoutMs);
  }

  async #answered<T>(method: string, answer: Promise<T>): Promise<T> {
    const gone = this.#child.ended.then((ending): never => {
      const { lastWords } = this.#child;
      throw mismatch(`an answer to "${method}"`, `Notebridge has ended (${ending})${lastWords === '' ? '' : `: ${lastWords}`}`);
    });
    return Promise.race([answer, gone]);
  }
}

/** The stdin and stdout of a program as the SDK speaks over them. Its own transport passes over what is no message, and does not report how the program has ended. */
function toTransport({ input, output }: ChildProgram): Transport {
  const receive = (line: string): void => {
    try {
      transport.onmessage?.(deserializeMessage(line));
    } catch (error) {
      transport.onerror?.(error as Error);
    }
  };
  let rest = '';
  const transport: Transport = {
    start: async () => {
      output.setEncoding('utf8').on('data', (text: string) => {
        const lines = (rest + text).split('\n');
        rest = lines.pop() ?? '';
        lines.forEach(receive);
      });
    },
    send: async (message) => void input.write(serializeMessage(message)),
    close: async () => transport.onclose?.(),
  };
  return transport;
}

function parseObject(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
  } catch {
    return {};
  }
}

import type { JupyterServer } from '../../../src/lab/jupyter-server.js';
import { LabNotebook } from '../../../src/lab/lab-notebook.js';
import type { ToolContext } from '../../../src/tools/tool.js';

// biome-ignore lint/suspicious/noExplicitAny: each test knows what its tool answers.
type ToolValue = any;

export interface Answer {
  value: ToolValue;
  error: { code: string; message: string; [key: string]: unknown } | undefined;
  text: string;
  images: number;
}

/** An agent at a notebook of a server. */
export class Agent {
  readonly notebook: LabNotebook;
  readonly #name: string;

  private constructor(notebook: LabNotebook, name: string) {
    this.notebook = notebook;
    this.#name = name;
  }

  static async open(server: JupyterServer, path: string, name = 'Bot'): Promise<Agent> {
    return new Agent(await LabNotebook.open({ server, path }), name);
  }

  async call(name: string, args: object = {}, context: ToolContext = {}): Promise<Answer> {
    const { content } = await this.notebook.callTool(name, args, { agent: this.#name, ...context });
    const [first, ...images] = content;
    const text = first?.type === 'text' ? first.text : '{}';
    const value = JSON.parse(text);
    return { value, error: value.error, text, images: images.length };
  }

  /** The cells, with their sources as single texts. */
  async cells(): Promise<{ id: string; source: string; rev: number; outputs?: unknown[] }[]> {
    const { value } = await this.call('get_cells', { includeOutputs: true });
    return value.cells.map((cell: ToolValue) => ({ ...cell, source: cell.source.join('') }));
  }

  close(): Promise<void> {
    return this.notebook.close();
  }
}

import {
  type Actor,
  createDocument,
  createNotebookSession,
  createNotebookTools,
  type Kernel,
  type NotebookSession,
  type NotebookTool,
  type ToolContext,
  type ToolOptions,
} from '../../src/index.js';
import type { SessionEvent } from '../../src/session/session.js';
import { TinyKernel } from '../fixtures/tiny-kernel.js';

export const ann: Actor = { kind: 'person', name: 'Ann' };
export const bot: Actor = { kind: 'agent', name: 'Bot' };

export interface OpenNotebook {
  session: NotebookSession;
  kernel: TinyKernel;
  tools: NotebookTool[];
  /** Calls a tool as the agent Bot: the parsed text, and whether it is an error. */
  call(name: string, args?: unknown, context?: ToolContext): Promise<{ value: unknown; isError: boolean; images: unknown[] }>;
  /** The next event of a type, from now on. */
  next(type: SessionEvent['type']): Promise<SessionEvent>;
}

/** A session on the sources as code cells `c0`, `c1`, …; it has to be closed. */
export function openNotebook(
  sources: readonly string[] = [],
  { kernel = new TinyKernel(), ...options }: { kernel?: TinyKernel; readOnly?: boolean } & ToolOptions = {},
): OpenNotebook {
  const cells = sources.map((source, index) => ({
    id: `c${index}`,
    type: 'code' as const,
    source,
    metadata: {},
    outputs: [],
    executionCount: null,
  }));
  const document = createDocument({ metadata: {}, minor: 5, cells });
  const session = createNotebookSession({ document, kernel, title: 'x.ipynb', readOnly: options.readOnly ?? false });
  const tools = createNotebookTools(session, options);
  return {
    session,
    kernel,
    tools,
    async call(name, args, context = {}) {
      const tool = tools.find((candidate) => candidate.name === name);
      if (!tool) throw new Error(`There is no tool ${name}`);
      const { content, isError } = await tool.run(args, { agent: 'Bot', ...context });
      const [first, ...images] = content;
      return { value: first?.type === 'text' ? JSON.parse(first.text) : undefined, isError: isError ?? false, images };
    },
    next(type) {
      return new Promise((resolve) => {
        const stop = session.onEvent((event) => {
          if (event.type !== type) return;
          stop();
          resolve(event);
        });
      });
    },
  };
}

/** Resolves when code has begun to run, with all that it does before it waits. */
export function whenBusy(kernel: Kernel): Promise<void> {
  return new Promise((resolve) => {
    const stop = kernel.onState((state) => {
      if (state !== 'busy') return;
      stop();
      // The statements before the first wait run in the same turn.
      setImmediate(resolve);
    });
  });
}

import type { NotebookHost } from '@notebridge/notebook/host';
import type { ToolCall, ToolResult } from '@notebridge/protocol/core/mcp';
import type { Answered, CallNext, Middleware, MiddlewareContext, MiddlewareHost } from '@notebridge/protocol/core/middleware';
import { isInputRequired } from '@notebridge/protocol/core/questions';

/** Sessions; of one that called longest ago it is forgotten which kernel it knows. */
const maxSessions = 1000;

/**
 * Tells an agent, with its next answer, that another has restarted the kernel or put another one in since its last call, or that code was
 * ended with it: its variables are gone, and what it was told of the kernel at the handshake may be wrong.
 */
export class KernelNewsMiddleware implements Middleware {
  readonly name = 'KernelNewsMiddleware';
  readonly #host: Pick<NotebookHost, 'session' | 'kernelChoice'>;
  /** How often the kernel had been restarted, at the last call of each session. */
  readonly #known = new Map<string, number>();
  #restarts = 0;
  #how = '';

  constructor(host: Pick<NotebookHost, 'session' | 'kernelChoice'>) {
    this.#host = host;
  }

  onAdded(_: MiddlewareHost): () => void {
    let isBusy = false;
    const note = (how: string): void => {
      this.#restarts++;
      this.#how = how;
    };
    return this.#host.session.onEvent((event) => {
      if (event.type === 'restarted') note(`by ${JSON.stringify(event.by.name.slice(0, 100))}`);
      else if (event.type !== 'kernel') return;
      // In the middle of a cell, and nobody has asked for it.
      else if (isBusy && event.state === 'starting') note('to end code that did not end when it was interrupted');
      isBusy = event.type === 'kernel' && event.state === 'busy';
    });
  }

  async onCallTool(context: MiddlewareContext<ToolCall>, callNext: CallNext<ToolCall, ToolResult>): Promise<Answered<ToolResult>> {
    const { sessionId } = context.caller;
    const [known, restarts, how] = [this.#known.get(sessionId), this.#restarts, this.#how];
    const result = await callNext(context);
    if (isInputRequired(result)) return result;
    this.#note(sessionId, context.message.name === 'restart_kernel' ? this.#restarts : restarts);
    if (known === undefined || known === restarts) return result;
    return { ...result, content: [...(result.content ?? []), { type: 'text', text: this.#textOn(how) }] };
  }

  #note(sessionId: string, restarts: number): void {
    this.#known.delete(sessionId);
    this.#known.set(sessionId, restarts);
    const [oldest] = this.#known.keys();
    if (this.#known.size > maxSessions && oldest !== undefined) this.#known.delete(oldest);
  }

  #textOn(how: string): string {
    const { session, kernelChoice } = this.#host;
    const name = kernelChoice?.displayName ?? session.kernel.info.displayName;
    const can = kernelChoice ? ` ${kernelChoice.isolation}` : '';
    return `Note: the kernel was restarted ${how} since your last call, so its variables are gone. It is ${JSON.stringify(name.slice(0, 100))} now.${can}`;
  }
}

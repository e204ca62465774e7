import type { KernelTools, ToolPackage } from './kernel-tools.js';
import type { ToolCommand, ToolReport } from './messages.js';

interface Running {
  readonly abort: AbortController;
  /** Events that were sent and not yet taken. */
  unheard: number;
}

/** Calls under way at once, of one worker. */
const maxCalls = 1024;
/** Of one call: what comes faster than Python takes it is left out. */
const maxUnheard = 256;

/** The calls of one worker: handed to the tools as they come, answered in any order, and ended with the worker. */
export class ToolCalls {
  readonly #tools: KernelTools;
  readonly #send: (command: ToolCommand) => void;
  readonly #running = new Map<number, Running>();
  readonly #stopListening: () => void;

  constructor(tools: KernelTools, send: (command: ToolCommand) => void) {
    this.#tools = tools;
    this.#send = send;
    this.#stopListening = tools.onPackage((next) => this.#offer(next));
    this.#offer(tools.package);
    tools.start();
  }

  take(report: ToolReport): void {
    const running = this.#running.get(report.id);
    if (report.type === 'toolCall') this.#begin(report);
    else if (report.type === 'toolHeard') {
      if (running) running.unheard = Math.max(0, running.unheard - 1);
    } else running?.abort.abort();
  }

  /** Nobody waits for answers any more. Closing twice is harmless. */
  close(): void {
    this.#stopListening();
    for (const { abort } of this.#running.values()) abort.abort();
    this.#running.clear();
  }

  #offer(next: ToolPackage): void {
    this.#send({ type: 'toolPackage', package: next.state === 'there' ? { ...next, files: [...next.files] } : next });
  }

  #begin({ id, server, tool, body, hears }: Extract<ToolReport, { type: 'toolCall' }>): void {
    // Forged, or gone wrong: an answer must not reach another call.
    if (this.#running.has(id)) return;
    if (this.#running.size >= maxCalls) return this.#send(failure(id, 'limit_reached', `${maxCalls} calls are under way already.`));
    const running: Running = { abort: new AbortController(), unheard: 0 };
    this.#running.set(id, running);
    const onEvent = hears ? (text: string) => this.#tell(id, running, text) : undefined;
    const end = (command: ToolCommand) => {
      if (this.#running.get(id) !== running) return;
      this.#running.delete(id);
      this.#send(command);
    };
    this.#tools.call({ server, tool, body }, { signal: running.abort.signal, onEvent }).then(
      (text) => end({ type: 'toolAnswer', id, text }),
      (error: unknown) => end(failure(id, 'internal', error instanceof Error ? error.message : String(error))),
    );
  }

  #tell(id: number, running: Running, text: string): void {
    if (this.#running.get(id) !== running || running.unheard >= maxUnheard) return;
    running.unheard++;
    this.#send({ type: 'toolEvent', id, text });
  }
}

function failure(id: number, code: string, error: string): ToolCommand {
  return { type: 'toolAnswer', id, text: JSON.stringify({ success: false, result: null, error, is_error: false, error_code: code }) };
}

import { messageOf } from '@notebridge/protocol/util/message-of';
import { hasTooManyValues, maxValues } from './bounded-json.js';
import type { CodeAsker, KernelTools, ToolPackage } from './kernel-tools.js';
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
const maxBodyCharacters = 64 * 1024 * 1024;

export type ToolCalls = ReturnType<typeof openToolCalls>;

export interface ToolCallsOptions {
  tools: KernelTools;
  send: (command: ToolCommand) => void;
  /** Whoever has that cell run; undefined for one that does not run any more. */
  askerOf: (cell: string) => CodeAsker | undefined;
}

/** The calls of one worker: handed to the tools as they come, answered in any order, and ended with the worker. */
export function openToolCalls({ tools, send, askerOf }: ToolCallsOptions) {
  const allRunning = new Map<number, Running>();
  const offer = (next: ToolPackage) =>
    send({ type: 'toolPackage', package: next.state === 'there' ? { ...next, files: [...next.files] } : next });

  const notify = (id: number, running: Running, text: string): void => {
    if (allRunning.get(id) !== running || running.unheard >= maxUnheard) return;
    running.unheard++;
    send({ type: 'toolEvent', id, text });
  };
  const begin = ({ id, server, tool, body, hears, cell }: Extract<ToolReport, { type: 'toolCall' }>): void => {
    // Forged, or gone wrong: an answer must not reach another call.
    if (allRunning.has(id)) return;
    if (allRunning.size >= maxCalls) return send(failure(id, 'limit_reached', `${maxCalls} calls are under way already.`));
    if (body.length > maxBodyCharacters || hasTooManyValues(body))
      return send(
        failure(id, 'invalid_arguments', `Arguments have at most ${maxBodyCharacters} characters as JSON, and ${maxValues} values.`),
      );
    const running: Running = { abort: new AbortController(), unheard: 0 };
    allRunning.set(id, running);
    const onEvent = hears ? (text: string) => notify(id, running, text) : undefined;
    const end = (command: ToolCommand) => {
      if (allRunning.get(id) !== running) return;
      allRunning.delete(id);
      send(command);
    };
    const asker = cell === undefined ? undefined : askerOf(cell);
    tools.call({ server, tool, body }, { signal: running.abort.signal, onEvent, asker }).then(
      (text) => end({ type: 'toolAnswer', id, text }),
      (error: unknown) => end(failure(id, 'internal', messageOf(error))),
    );
  };

  const stopListening = tools.onPackage(offer);
  offer(tools.package);
  tools.start();
  return {
    take(report: ToolReport): void {
      const running = allRunning.get(report.id);
      if (report.type === 'toolCall') begin(report);
      else if (report.type === 'toolCancel') running?.abort.abort();
      else if (running) running.unheard = Math.max(0, running.unheard - 1);
    },
    /** Nobody waits for answers any more. Closing twice is harmless. */
    close(): void {
      stopListening();
      for (const { abort } of allRunning.values()) abort.abort();
      allRunning.clear();
    },
  };
}

function failure(id: number, code: string, error: string): ToolCommand {
  return { type: 'toolAnswer', id, text: JSON.stringify({ success: false, result: null, error, is_error: false, error_code: code }) };
}

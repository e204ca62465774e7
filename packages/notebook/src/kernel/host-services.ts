/** What the host does for code besides tools: it reads the notebook's folder, and fetches from servers that are allowed. */
import type { HostCommand, HostReport, ServiceName } from './messages.js';

/** A request, or its answer. */
export interface ServiceMessage {
  /** JSON. Of a request not checked: code may have forged it. */
  readonly text: string;
  readonly data?: Uint8Array<ArrayBuffer> | undefined;
}

/** One is opened for each worker, and closed with it. */
export interface HostService {
  /** Rejects with a message that code may see. The signal: nobody waits any more. */
  call(request: ServiceMessage, signal: AbortSignal): Promise<ServiceMessage>;
  /** Gives up what is open. Closing twice is harmless. */
  close(): Promise<void>;
}

/** How each service is opened, by its name. One that is missing refuses. */
export type HostServices = { readonly [name in ServiceName]?: (() => HostService) | undefined };

/** Calls under way at once, of one worker: one of files, and as many as code may fetch at once. */
const maxCalls = 1024;
/** Of one request, its bytes apart: a path, or an address and its headers. As JSON it could take fifty times as much memory. */
const maxTextCharacters = 128 * 1024;

export type HostCalls = ReturnType<typeof openHostCalls>;

/** The calls of one worker, answered in any order, and ended with it. */
export function openHostCalls(services: HostServices, send: (command: HostCommand) => void) {
  const opened = new Map<ServiceName, HostService>();
  const allRunning = new Map<number, AbortController>();
  let isClosed = false;
  const open = (name: ServiceName): HostService => {
    const service = opened.get(name) ?? services[name]?.() ?? missing(name);
    opened.set(name, service);
    return service;
  };
  const begin = async ({ id, service, text, data }: Extract<HostReport, { type: 'hostCall' }>): Promise<void> => {
    // Forged, or gone wrong: an answer must not reach another call.
    if (allRunning.has(id)) return;
    if (allRunning.size >= maxCalls) return send(failure(id, `${maxCalls} calls are under way already`));
    if (text.length > maxTextCharacters) return send(failure(id, `a request has at most ${maxTextCharacters} characters`));
    const abort = new AbortController();
    allRunning.set(id, abort);
    const command = await open(service)
      .call({ text, data }, abort.signal)
      .then(
        ({ text: answered, data: bytes }): HostCommand => ({ type: 'hostAnswer', id, text: answered, data: bytes }),
        (error: unknown) => failure(id, error instanceof Error ? error.message : String(error)),
      );
    if (allRunning.delete(id)) send(command);
  };

  return {
    take(report: HostReport): void {
      if (isClosed) return;
      if (report.type === 'hostCall') void begin(report);
      else allRunning.get(report.id)?.abort();
    },
    async close(): Promise<void> {
      isClosed = true;
      for (const abort of allRunning.values()) abort.abort();
      allRunning.clear();
      await Promise.all([...opened.values()].map((service) => service.close()));
    },
  };
}

function missing(name: ServiceName): HostService {
  return { call: () => Promise.reject(new Error(`code in this notebook has no ${name}`)), close: async () => {} };
}

function failure(id: number, error: string): HostCommand {
  return { type: 'hostAnswer', id, text: JSON.stringify({ error }) };
}

import type { AbortSignal } from './platform.js';
import type { Send } from './send.js';

const { create } = Object;

/** What `generated` calls tools by; see `_kernel_conversation.js` of the bindings. */
export interface Calls {
  /** Resolves to the host's answer, JSON as it came. `signal`: nobody waits any more. */
  call(server: string, tool: string, body: string, options: { signal?: AbortSignal; onEvent?: (line: string) => void }): Promise<string>;
  takeAnswer(id: number, text: string): void;
  takeEvent(id: number, text: string): void;
  /** Their execution has ended: nobody gets an answer. */
  forget(): void;
}

interface Waiting {
  resolve: (answer: string) => void;
  onEvent: ((line: string) => void) | undefined;
}

/** Of one execution, sent to the host at once; others wait here, in memory that is bounded. */
const mostUnderWay = 256;

export function createCalls(send: Send): Calls {
  let waiting: { [id: number]: Waiting | undefined } = create(null);
  let queued: (() => void)[] = [];
  let underWay = 0;
  let lastId = 0;

  const begin = (start: () => void): void => {
    if (underWay >= mostUnderWay) return void queued.push(start);
    underWay++;
    start();
  };
  const end = (id: number): void => {
    delete waiting[id];
    underWay--;
    const next = queued.shift();
    if (next !== undefined) begin(next);
  };
  return {
    call(server, tool, body, { signal, onEvent }) {
      const id = ++lastId;
      return new Promise((resolve, reject) => {
        begin(() => {
          if (signal?.aborted === true) {
            end(id);
            return reject(signal.reason);
          }
          waiting[id] = { resolve, onEvent };
          signal?.addEventListener('abort', () => {
            if (waiting[id] === undefined) return;
            send('cancel', id);
            end(id);
            reject(signal.reason);
          });
          send('call', id, `${server}`, `${tool}`, `${body}`, onEvent !== undefined);
        });
      });
    },
    takeAnswer(id, text) {
      const found = waiting[id];
      if (found === undefined) return;
      end(id);
      found.resolve(text);
    },
    takeEvent(id, text) {
      send('heard', id);
      waiting[id]?.onEvent?.(text);
    },
    forget() {
      waiting = create(null);
      queued = [];
      underWay = 0;
    },
  };
}

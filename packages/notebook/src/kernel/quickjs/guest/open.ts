/**
 * The first code in QuickJS: gives code what it needs of a platform, and the host what it drives code by. Nothing in here is a boundary: what
 * code does to these objects it does to its own session.
 */
import { createCalls } from './calls.js';
import { installConsole } from './console.js';
import { describeError } from './describe-error.js';
import { importModule } from './import-module.js';
import { installPlatform } from './platform.js';
import type { Send } from './send.js';
import { shownValue } from './shown-value.js';
import { installTimers } from './timers.js';
import { createWatching, tellInForEach } from './watch.js';

const { stringify } = JSON;

/** What the host calls. All texts: JSON where it is more than one. */
export interface Guest {
  takeAnswer(id: number, text: string): void;
  takeEvent(id: number, text: string): void;
  fire(id: number): void;
  /** The execution has ended. */
  forget(): void;
  show(value: unknown): string;
  describe(thrown: unknown): string;
}

export function open(sendText: (text: string) => void): Guest {
  const send: Send = (...message) => sendText(stringify(message));
  const watching = createWatching((text) => send('print', 'stderr', text));
  const endGroups = installConsole(send);
  installPlatform(watching.watch);
  tellInForEach(watching);
  const calls = createCalls(send);
  const timers = installTimers(send, watching.watch);
  const display = (value: unknown) => send('display', shownValue(value));
  Object.defineProperty(globalThis, 'display', { value: display, writable: true, configurable: true });
  const ours = Object.freeze({ call: calls.call, import: importModule, told: watching.told });
  Object.defineProperty(globalThis, '$notebridge', { value: ours });
  return {
    takeAnswer: calls.takeAnswer,
    takeEvent: calls.takeEvent,
    fire: timers.fire,
    forget: () => {
      calls.forget();
      timers.forget();
      endGroups();
    },
    show: (value) => stringify(value === undefined ? null : shownValue(value)),
    describe: (thrown) => stringify(describeError(thrown)),
  };
}

import type { HostPort } from './host-port.js';

/** What `input()` asks the host by: see questions.py. Everything in and out is text and numbers. */
export function createInputPort(host: HostPort): object {
  return Object.freeze({
    begin: Object.freeze((text: string) => host.begin('input', `${text}`)),
    wait: Object.freeze((id: number, ms: number) => host.waitForText(Number(id), Number(ms))),
    cancel: Object.freeze((id: number) => host.cancel('input', Number(id))),
  });
}

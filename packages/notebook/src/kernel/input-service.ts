import type { PendingExecution } from './execution-queue.js';
import type { HostService } from './host-services.js';

/** What `input()` asks is asked where the cell that runs was asked for. Code may forge questions: it could ask them anyway. */
export function createInputService(current: () => PendingExecution | undefined): HostService {
  return {
    async call({ text }, signal) {
      // Whatever code has written there: of what is no object, no member is found.
      const { prompt, password } = Object(JSON.parse(text)) as { prompt?: unknown; password?: unknown };
      const question = { prompt: typeof prompt === 'string' ? prompt : '', password: password === true };
      const answer = await current()?.ask(question, signal);
      return { text: JSON.stringify(answer === undefined ? {} : { text: answer }) };
    },
    close: async () => {},
  };
}

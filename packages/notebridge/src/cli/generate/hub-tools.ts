import type { GatheredInput } from '../../bindings/input.js';
import { codeOf } from '../../core/errors.js';
import { proxyPrefix } from '../../doors/tool-proxy/tool-proxy.js';
import { askOwner } from '../client/hub-request.js';
import type { ToolsSource } from './tools-source.js';

/** A hub may start servers to answer. Milliseconds. */
const answerMs = 120_000;

type Answer = GatheredInput & { tag: string };

/** The tools of the running hub, as its owner. It reports changes itself: it answers a request when there is news. */
export function createHubTools(hub: { url: string; token: string }): ToolsSource {
  let known = '';
  let latest: Answer | undefined;
  const ask = async (query: string, signal?: AbortSignal): Promise<Answer> => {
    return (await askOwner<'BindingsInput'>(hub, `/bindings${query}`, { timeoutMs: answerMs, ...(signal && { signal }) })) as Answer;
  };
  return {
    read: async () => {
      const { input, warnings, failed, tag } = latest ?? (await ask(''));
      latest = undefined;
      known = tag;
      return { input: { ...input, hubUrl: `${hub.url}${proxyPrefix}` }, warnings, failed };
    },
    changed: async (signal) => {
      try {
        while (!signal.aborted) {
          const answer = await ask(`?after=${known}`, signal);
          if (answer.tag === known) continue;
          latest = answer;
          return;
        }
      } catch (error) {
        if (codeOf(error) !== 'cancelled') throw error;
      }
    },
    close: async () => {},
  };
}

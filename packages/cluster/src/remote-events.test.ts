import type { CallContext } from '@notebridge/protocol/core/call-context';
import { RequestContext } from '@notebridge/protocol/core/request-context';
import type { JsonObject } from '@notebridge/protocol/json';
import { describe, expect, it } from 'vitest';
import type { HubCalls } from './cluster-parts.js';
import { followEvents, toHubContext } from './remote-events.js';

const runtime = { now: () => 12_345 };
const target = { hub: 'b', resource: 'server.s', epoch: 1 };

describe('Events of another hub', () => {
  it('are followed by a call of this hub at the time that its runtime has', async () => {
    const contexts: CallContext[] = [];
    const events: JsonObject[] = [];
    const calls: HubCalls = {
      call: async (_target, _method, _params, context) => {
        contexts.push(context);
        context.forwardProgress({ event: { kind: 'told' } });
        return {};
      },
      serve: () => () => {},
    };
    const onEvent = (event: JsonObject) => void events.push(event);
    await new Promise<void>((onEnd) => followEvents({ calls, target, runtime, method: 'notebridge/events', onEvent, onEnd }));
    expect(events).toEqual([{ kind: 'told' }]);
    expect(contexts[0]).toBeInstanceOf(RequestContext);
    expect(contexts[0]).toMatchObject({ timestamp: 12_345 });
    expect(toHubContext('tools/list', { runtime }).timestamp).toBe(12_345);
  });
});

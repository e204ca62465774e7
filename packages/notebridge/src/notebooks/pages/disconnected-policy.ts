import type { JsonObject } from '@notebridge/kit/json';
import type { CallContext } from '../../core/call-context.js';
import { type Tool, type ToolResult, toFailedResult } from '../../core/mcp.js';
import type { PageClient } from './page-client.js';
import type { Slot } from './slot.js';

/** What a proxy does for an agent while no page is there. */
export interface DisconnectedPolicy {
  /** Answers a list without a page; undefined to leave it to the stub. */
  list(method: string): JsonObject | undefined;
  /** Waits for a page that is expected. Resolves to whether it came. */
  awaitReturn(context: CallContext): Promise<boolean>;
  /** The answer to a call of a tool, its name quoted, that no page can take. */
  refuseCall(toolName: string): ToolResult;
}

export interface StaticListPolicyOptions {
  slot: Slot;
  client: PageClient;
  /** What keeps the page away, and what the caller is to do next. */
  nextStep: () => string;
}

/**
 * Tools are listed whether or not a page is there, since many agents read the list once: the last page's own, else those of
 * its profile. A call waits while a page is expected back, and else gets an error that says how to get one.
 */
export function createStaticListPolicy({ slot, client, nextStep }: StaticListPolicyOptions): DisconnectedPolicy {
  return {
    list(method) {
      return method === 'tools/list' ? { tools: [...(slot.rememberedTools ?? slot.profile.tools)] satisfies Tool[] } : undefined;
    },
    async awaitReturn(context) {
      const expectedForMs = client.expectedForMs();
      return expectedForMs > 0 && client.waitUntilConnected(expectedForMs, context.signal);
    },
    refuseCall(toolName) {
      return toFailedResult('not_connected', `No ${slot.profile.title} page is connected, so ${toolName} was not run. ${nextStep()}`);
    },
  };
}

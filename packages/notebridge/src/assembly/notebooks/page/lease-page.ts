import type { Provider } from '@notebridge/protocol/core/provider';
import type { Environment } from '@notebridge/system/processes/environment';
import { Lease } from '../../../broker/lease.js';
import { LeaseGate } from '../../../broker/lease-gate.js';
import { nameOfAgent } from '../../../notebooks/call-notebook-tool.js';
import type { PageClient } from '../../../notebooks/pages/page-client.js';
import type { PageProfile } from '../../../notebooks/profiles/profile.js';
import { openToolName } from '../../../reference/open-tool.js';
import { leaseIdleIn } from '../page-options.js';
import { PagePerson } from './page-person.js';

export interface LeasePageOptions {
  /** The page with all of its tools. */
  provider: Provider;
  client: PageClient;
  profile: PageProfile;
  isRunning: () => boolean;
  env: Environment;
}

/** A page for several agents of this process: one of them writes. */
export interface LeasedPage {
  provider: Provider;
  /** Who writes just now, and who asks for it. */
  lease: Lease;
  endSession(sessionId: string): void;
  close(): void;
}

export function leasePage({ provider, client, profile, isRunning, env }: LeasePageOptions): LeasedPage {
  const person = new PagePerson(client);
  const lease = new Lease({
    idleMs: leaseIdleIn(env),
    isRunning,
    person,
    nextStep:
      'There is no window and no page here in which Notebridge could ask: tell the person, who can end the session of the other agent.',
  });
  person.lease = lease;
  const gate = new LeaseGate({
    provider,
    reads: readsOf(profile),
    lease,
    agentOf: (context) => ({ id: context.caller.sessionId, name: nameOfAgent(context) }),
  });
  return {
    provider: gate,
    lease,
    endSession: (sessionId) => lease.leave((id) => id === sessionId),
    close: () => {
      lease.close();
      gate.close();
    },
  };
}

/** Pages say little of their tools. Opening one is not work in it. */
export function readsOf({ tools }: PageProfile): ReadonlySet<string> {
  return new Set([openToolName, ...tools.filter(({ annotations }) => annotations?.readOnlyHint === true).map(({ name }) => name)]);
}

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { answer } from '@notebridge/protocol/core/middleware';
import { owner, type Principal } from '@notebridge/protocol/core/principal';
import { expect, it, onTestFinished } from 'vitest';
import { createContext } from '../../../test/support/create-context.js';
import { Admission } from '../../grants/admission.js';
import { Delegations } from '../../grants/delegations.js';
import { GrantStore } from '../../grants/grant-store.js';
import { RunnerRights } from './runner-rights.js';

it('code in the notebook is held to each grant that had code run there, until a person decides anew', { tags: ['P-443'] }, async () => {
  const dir = await mkdtemp(join(tmpdir(), 'notebridge-runner-'));
  const store = await GrantStore.open({ dir });
  onTestFinished(() => store.close().then(() => rm(dir, { recursive: true, force: true })));
  const delegations = new Delegations();
  const admission = new Admission({ store, delegations });
  const rights = new RunnerRights(
    (callers, terms) => delegations.delegate(callers, terms),
    () => {},
  );
  const grant = async (...allow: string[]): Promise<Principal> => ({ kind: 'grant', grantId: (await store.issue({ allow })).id });
  const own = await grant('*');
  const call = async (principal: Principal, name: string): Promise<string[]> => {
    const caller = { sessionId: 's', door: 'http', era: 'legacy', clientInfo: undefined, principal } as const;
    await rights.watch.onMessage?.(createContext('tools/call', { name }, { caller }), async () => answer({}));
    return ['read', 'write'].filter((tool) => admission.listerOf(rights.of(own))('fs', { name: tool, inputSchema: {} }));
  };
  const narrow = await grant('notebook:*', 'fs:read');
  expect(await call(narrow, 'get_cells')).toEqual(['read', 'write']);
  expect(await call(narrow, 'run_code')).toEqual(['read']);
  // Whoever runs later cannot be told apart from what an earlier one has left behind.
  expect(await call(owner, 'run_code')).toEqual(['read']);
  expect(await call(await grant('notebook:*'), 'run_code_cell')).toEqual([]);
  rights.forget();
  expect(await call(owner, 'run_code')).toEqual(['read', 'write']);
});

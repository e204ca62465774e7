// @module-tag P-468

import type { Caller } from '@notebridge/protocol/core/call-context';
import type { Tool } from '@notebridge/protocol/core/mcp';
import { silentLogger } from '@notebridge/protocol/util/logger';
import { Redactor } from '@notebridge/protocol/util/redactor';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createContext } from '../../../test/support/create-context.js';
import { ApprovalPolicy, type ApprovalRules } from './approval-policy.js';
import { Approvals } from './approvals.js';
import { PendingApprovals } from './pending-approvals.js';

const given: Tool = { name: 'plain', inputSchema: {}, description: 'Adds it.' };
const caller: Caller = { sessionId: 's', door: 'stdio', era: 'legacy', clientInfo: {} };
let rules: ApprovalRules;
let tool: Tool | undefined;
let asked: number;
let approvals: Approvals;
beforeEach(() => {
  rules = { approve: 'writes', servers: [{ name: 'shop', tools: { deny: [] } }] };
  [tool, asked] = [given, 0];
  const policy = () => new ApprovalPolicy(rules, []);
  const pending = new PendingApprovals();
  const [labelOf, redactor] = [() => undefined, new Redactor()];
  approvals = new Approvals({ policy, pending, labelOf, redactor, logger: silentLogger, timeoutMs: 60_000 });
});
afterEach(() => approvals.close());

/** Calls it for an agent whose person says yes for the session. */
async function call(): Promise<unknown> {
  const ask = async () => {
    asked++;
    return { action: 'accept', content: { decision: 'session' } };
  };
  const asker = { clientCapabilities: { elicitation: { form: {} } }, ask };
  const context = createContext('tools/call', { name: 'shop__plain', arguments: {} }, { caller, requestId: 1, asker });
  return approvals.ask(context, { server: 'shop', tool: 'plain' }, () => tool);
}

it.each<[string, () => void]>([
  ['says another thing of itself', () => (tool = { ...given, description: 'Sends it away.' })],
  ['takes other arguments', () => (tool = { ...given, inputSchema: { properties: { to: {} } } })],
  ['gives other hints', () => (tool = { ...given, annotations: { destructiveHint: true } })],
  ['is of another server by the config', () => (rules = { ...rules, servers: [{ name: 'shop', tools: { deny: ['x'] } }] })],
  ['cannot be found', () => (tool = undefined)],
])('a yes for the session is for the tool as it was: asked again about one that %s', async (_, change) => {
  for (let n = 0; n < 2; n++) expect(await call()).toMatchObject({ by: n === 0 ? 'elicitation' : 'session' });
  expect(asked).toBe(1);
  change();
  for (let n = 0; n < 2; n++) await call();
  expect(asked).toBe(2);
});

import type { Caller } from '@notebridge/protocol/core/call-context';
import { Cancellation } from '@notebridge/protocol/core/cancellation';
import type { Tool } from '@notebridge/protocol/core/mcp';
import type { Middleware } from '@notebridge/protocol/core/middleware';
import type { Principal } from '@notebridge/protocol/core/principal';
import type { Asker, Question } from '@notebridge/protocol/core/questions';
import type { RequestContextOptions } from '@notebridge/protocol/core/request-context';
import { parseJson } from '@notebridge/protocol/exact-json';
import type { JsonObject } from '@notebridge/protocol/json';
import { silentLogger } from '@notebridge/protocol/util/logger';
import { Redactor } from '@notebridge/protocol/util/redactor';
import { beforeEach, describe, expect, it } from 'vitest';
import { createContext } from '../../../test/support/create-context.js';
import { Hub } from '../../hub.js';
import { Admission } from '../admission.js';
import { Delegations } from '../delegations.js';
import { createGuard } from '../guard.js';
import { ApprovalPolicy, type ApprovalRules } from './approval-policy.js';
import { Approvals } from './approvals.js';
import { PendingApprovals } from './pending-approvals.js';

const tools: Record<string, Tool> = {
  read: { name: 'read', inputSchema: {}, annotations: { readOnlyHint: true } },
  add: { name: 'add', inputSchema: {}, annotations: { destructiveHint: false } },
  plain: { name: 'plain', inputSchema: {} },
};

let rules: ApprovalRules;
let pending: PendingApprovals;
let delegations: Delegations;
let hub: Hub;
/** What came through the guard. */
let reached: JsonObject[];
/** Where a name leads. */
let moved: Record<string, { server: string; tool: string }>;
let inner: () => JsonObject;
let approvals: Approvals;

function open({ timeoutMs = 60_000, layers = [] }: { timeoutMs?: number; layers?: Middleware[] } = {}): void {
  reached = [];
  moved = {};
  inner = () => ({});
  pending = new PendingApprovals();
  pending.isWatched = true;
  delegations = new Delegations();
  const redactor = new Redactor();
  redactor.add('hunter2-secret');
  const store = { get: () => 'unknown' as const, takeCall: () => false, putBackCall: () => {} };
  const admission = new Admission({ store, delegations });
  const policy = () => new ApprovalPolicy(rules, ['notebook']);
  approvals = new Approvals({ policy, pending, labelOf: (p) => admission.rightsOf(p).label, redactor, logger: silentLogger, timeoutMs });
  hub = new Hub();
  hub.addMiddleware(
    createGuard({
      admission,
      approvals,
      resolve: (name) => {
        const [server = '', tool] = name.split('__');
        return moved[name] ?? (tool === undefined ? undefined : { server, tool });
      },
      findTool: ({ tool }) => tools[tool],
    }),
  );
  for (const layer of layers) hub.addMiddleware(layer);
}
beforeEach(() => {
  rules = { approve: 'destructive', servers: [] };
  open();
});

const legacy: Caller = { sessionId: 's', door: 'stdio', era: 'legacy', clientInfo: { name: 'a\u202e\u001b[2Jgent' } };
const modern: Caller = { ...legacy, era: 'modern' };
const forms = { elicitation: { form: {} } };

function call(name: string, args: unknown, options: Partial<RequestContextOptions> & { more?: JsonObject } = {}): Promise<JsonObject> {
  const { more, ...rest } = options;
  const context = createContext('tools/call', { name, arguments: args, ...more }, { caller: legacy, requestId: 1, ...rest });
  return hub.request(context, async ({ message, target }) => {
    reached.push(target === undefined ? message : { ...message, target });
    return inner();
  });
}
/** A legacy agent, and what it was asked. */
function asker(answer: (question: Question) => JsonObject | Promise<JsonObject>): { asker: Asker; asked: Question[] } {
  const asked: Question[] = [];
  const ask: Asker['ask'] = async (_, question) => {
    asked.push(question);
    return answer(question);
  };
  return { asked, asker: { clientCapabilities: forms, ask } };
}
const accept = (decision: string) => ({ action: 'accept', content: { decision } });
const refusedBecause = (reason: string) => ({ code: 'not_approved', data: { reason } });

it('asks about no call of the notebook, and about any of a server whose tools are not known yet', async () => {
  rules = { approve: 'writes', servers: [] };
  await call('run_code', {});
  expect(reached).toHaveLength(1);
  moved.shop__ = { server: 'shop', tool: '' };
  const { asker: ofAgent } = asker(() => ({ action: 'decline' }));
  await expect(call('shop__', {}, { asker: ofAgent })).rejects.toMatchObject(refusedBecause('declined'));
  await expect(call('shop__plain', nested(200_000), { asker: ofAgent })).rejects.toMatchObject(refusedBecause('too_deep'));
  expect(reached).toHaveLength(1);
});

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let at = 0; at < depth; at++) value = [value];
  return value;
}

describe('a legacy agent', () => {
  it.each([
    [{ action: 'accept' }, false],
    [accept('once'), true],
    [accept('session'), true],
    [{ action: 'decline', content: { decision: 'once' } }, false],
  ])('an agent that answers %o has approved: %s', { tags: ['P-421'] }, async (answer, isApproved) => {
    const { asker: ofAgent } = asker(() => answer);
    const called = call('shop__plain', { a: 1 }, { asker: ofAgent });
    if (!isApproved) await expect(called).rejects.toMatchObject(refusedBecause('declined'));
    else await called;
    expect(reached).toEqual(isApproved ? [{ name: 'shop__plain', arguments: { a: 1 }, target: { server: 'shop', tool: 'plain' } }] : []);
  });

  it('an agent that fails, is cancelled, or is silent has not approved', { tags: ['P-423'] }, async () => {
    open({ timeoutMs: 50 });
    const failing = asker(() => Promise.reject(new Error('no dialog here')));
    await expect(call('shop__plain', {}, failing)).rejects.toThrow('no dialog here');
    const cancellation = new Cancellation();
    const silent = asker(() => {
      cancellation.cancel('enough');
      return accept('once');
    });
    await expect(call('shop__plain', {}, { ...silent, cancellation })).rejects.toMatchObject(refusedBecause('cancelled'));
    expect(reached).toEqual([]);
  });

  it('is asked once for calls that came together, if it approves the session; another one is asked', { tags: ['P-421'] }, async () => {
    const { asked, asker: ofAgent } = asker(() => accept('session'));
    await Promise.all(Array.from({ length: 20 }, (_, n) => call('shop__plain', { n }, { asker: ofAgent })));
    expect([asked.length, reached.length]).toEqual([1, 20]);
    await call('shop__plain', {}, { asker: ofAgent, caller: { ...legacy, sessionId: 'other' } });
    await call('shop__unknown', {}, { asker: ofAgent });
    expect(asked).toHaveLength(3);
  });

  it('is not taken at its word if the name has come to stand for another tool meanwhile', { tags: ['P-424'] }, async () => {
    const { asker: ofAgent } = asker(() => {
      moved.shop__plain = { server: 'shop', tool: 'add' };
      return accept('once');
    });
    await expect(call('shop__plain', {}, { asker: ofAgent })).rejects.toMatchObject({ code: 'denied' });
    expect(reached).toEqual([]);
  });

  it('has approved nothing for code whose rights have ended or shrunk while it was asked', { tags: ['P-424'] }, async () => {
    for (const shrink of ['end', 'join'] as const) {
      const rights = delegations.delegate([{ kind: 'owner' }], { label: 'x' });
      const { asker: ofAgent } = asker(() => {
        if (shrink === 'end') rights.end();
        else rights.join(delegations.delegate([{ kind: 'owner' }], { label: 'y', allow: ['git:*'] }).principal);
        return accept('once');
      });
      const caller: Caller = { ...legacy, door: 'tool-proxy', principal: rights.principal };
      const called = call('shop__plain', {}, { caller, parent: { callId: 'p', asker: ofAgent } });
      await expect(called).rejects.toMatchObject({ code: shrink === 'end' ? 'bad_grant' : 'denied' });
    }
    expect(reached).toEqual([]);
  });

  it('a call that nobody waits for just now leaves the question to the owner', async () => {
    const { BridgeError } = await import('@notebridge/protocol/core/errors');
    const { asker: gone } = asker(() => Promise.reject(new BridgeError('unanswered_question', 'Nobody waits.')));
    const called = call('shop__plain', {}, { parent: { callId: 'p', caller: legacy, asker: gone } });
    await expect.poll(() => pending.list().length).toBe(1);
    pending.decide(String(pending.list()[0]?.id), 'once');
    await called;
    expect(reached).toHaveLength(1);
  });
});

describe('an agent of the modern era', () => {
  const agent = { caller: modern, asker: { clientCapabilities: forms } };
  const ask = async (args: unknown, name = 'shop__plain', more: Parameters<typeof call>[2] = {}): Promise<string> => {
    const { resultType, requestState, inputRequests } = await call(name, args, { ...agent, ...more });
    expect([resultType, Object.keys(inputRequests as JsonObject)]).toEqual(['input_required', ['notebridge-approval']]);
    return String(requestState);
  };
  const yes = { inputResponses: { 'notebridge-approval': accept('once') } };

  it('is asked by an answer, and its call is made without what it said to us', async () => {
    const traceparent = (n: number) => `00-${'a'.repeat(32)}-${String(n).repeat(16)}-01`;
    const more = { task: { ttl: 1 }, _meta: { progressToken: 1, traceparent: traceparent(1), tracestate: 'a=1' } };
    const requestState = await ask({ a: 1 }, 'shop__plain', { more });
    expect(reached).toEqual([]);
    const carried = { progressToken: 2, traceparent: traceparent(2) };
    const again = { task: { ttl: 1 }, _meta: { ...carried, tracestate: 'a=2' }, requestState, ...yes };
    await call('shop__plain', { a: 1 }, { ...agent, more: again });
    const sent = { name: 'shop__plain', arguments: { a: 1 }, task: { ttl: 1 }, _meta: carried };
    expect(reached).toEqual([{ ...sent, target: { server: 'shop', tool: 'plain' } }]);
    const target = { server: 'shop', tool: 'plain' };
    await call('plain', {}, { ...agent, target, more: { requestState: await ask({}, 'plain', { target }), ...yes } });
    expect(reached.at(-1)).toEqual({ name: 'plain', arguments: {}, target });
  });

  it('cannot use a state twice, for other arguments, another tool, as another, or one that it made up', { tags: ['P-425'] }, async () => {
    const refused = { code: 'bad_params', message: expect.stringContaining('"requestState"') };
    const used = await ask({ a: 1 });
    await call('shop__plain', { a: 1 }, { ...agent, more: { requestState: used, ...yes } });
    const tries: [string, unknown, Parameters<typeof call>[2], string][] = [
      ['shop__plain', { a: 1 }, {}, used],
      ['shop__plain', {}, { more: { task: { ttl: 1 } } }, await ask({})],
      ['shop__plain', {}, { more: { _meta: { confirm: true } } }, await ask({})],
      ['shop__plain', { a: 2 }, {}, await ask({ a: 1 })],
      ['shop__plain', { a: 1 }, {}, await ask({ a: parseJson('1.0') })],
      ['shop__plain', { a: parseJson('12345678901234567890') }, {}, await ask({ a: parseJson('12345678901234567891') })],
      ['shop__unknown', {}, {}, await ask({})],
      ['shop__plain', {}, { caller: { ...modern, principal: { kind: 'anonymous' } satisfies Principal } }, await ask({})],
      ['shop__plain', {}, { caller: { ...modern, sessionId: 'other' } }, await ask({})],
      ['shop__plain', {}, {}, `${await ask({})}x`],
      ['shop__plain', {}, {}, 'approval-made-up.AAAA'],
      ['shop__plain', {}, {}, ''],
    ];
    reached.length = 0;
    for (const [name, args, more, requestState] of tries)
      await expect(call(name, args, { ...agent, ...more, more: { ...more?.more, requestState, ...yes } })).rejects.toMatchObject(refused);
    expect(await call('shop__plain', {}, { ...agent, more: yes })).toMatchObject({ resultType: 'input_required' });
    expect(reached).toEqual([]);
  });

  it('an answer that says no, or nothing, has used its state up', async () => {
    for (const answers of [{ 'notebridge-approval': { action: 'decline' } }, { other: accept('once') }, null, []]) {
      const requestState = await ask({});
      const more = { requestState, inputResponses: answers };
      await expect(call('shop__plain', {}, { ...agent, more })).rejects.toMatchObject(refusedBecause('declined'));
      await expect(call('shop__plain', {}, { ...agent, more: { requestState, ...yes } })).rejects.toMatchObject({ code: 'bad_params' });
    }
  });

  it('goes on with what the server of an approved call asks, and has nothing approved by that for another call', async () => {
    inner = () => ({ resultType: 'input_required', inputRequests: { q: { method: 'roots/list' } }, requestState: 'of the server' });
    const requestState = await ask({ a: 1 });
    const asked = await call('shop__plain', { a: 1 }, { ...agent, more: { requestState, ...yes } });
    expect(asked).toMatchObject({ inputRequests: { q: { method: 'roots/list' } }, requestState: expect.not.stringContaining('server') });
    inner = () => ({ done: true });
    const more = { requestState: asked.requestState, inputResponses: { q: { roots: [] } } };
    await expect(call('shop__plain', { a: 2 }, { ...agent, more })).rejects.toMatchObject({ code: 'bad_params' });
    expect(await call('shop__plain', { a: 1 }, { ...agent, more })).toEqual({ done: true });
    expect(reached.at(-1)).toMatchObject({ arguments: { a: 1 }, requestState: 'of the server', inputResponses: { q: { roots: [] } } });
    await expect(call('shop__plain', { a: 1 }, { ...agent, more })).rejects.toMatchObject({ code: 'bad_params' });
    // The server's own state, shown by nobody, opens nothing.
    await expect(call('shop__plain', { a: 1 }, { ...agent, more: { requestState: 'of the server' } })).rejects.toMatchObject({
      code: 'bad_params',
    });
  });

  it('is answered about one call by its own answer, also once the tool was approved for the session', async () => {
    const [first, second, third] = [await ask({ a: 1 }), await ask({ a: 2 }), await ask({ a: 3 })];
    const session = { inputResponses: { 'notebridge-approval': accept('session') } };
    await call('shop__plain', { a: 1 }, { ...agent, more: { requestState: first, ...session } });
    await call('shop__plain', { a: 2 }, { ...agent, more: { requestState: second, ...yes } });
    const no = { requestState: third, inputResponses: { 'notebridge-approval': { action: 'decline' } } };
    await expect(call('shop__plain', { a: 3 }, { ...agent, more: no })).rejects.toMatchObject(refusedBecause('declined'));
    await call('shop__plain', { a: 4 }, agent);
    // Nothing of the question reaches the server.
    const target = { server: 'shop', tool: 'plain' };
    expect(reached).toEqual([1, 2, 4].map((a) => ({ name: 'shop__plain', arguments: { a }, target })));
  });

  it('an agent that shows no forms waits for the owner, and then goes on with what the server asks', async () => {
    const silent = { caller: modern, asker: { clientCapabilities: { sampling: {} } } };
    inner = () => ({ resultType: 'input_required', inputRequests: {}, requestState: 'of the server' });
    const called = call('shop__plain', {}, silent);
    await expect.poll(() => pending.list().length).toBe(1);
    pending.decide(String(pending.list()[0]?.id), 'once');
    const { requestState } = await called;
    inner = () => ({ done: true });
    expect(await call('shop__plain', {}, { ...silent, more: { requestState } })).toEqual({ done: true });
    expect(reached.at(-1)).toMatchObject({ requestState: 'of the server' });
  });

  it('has no question of ours answered by code that it runs: that waits for the owner', async () => {
    const parent = { callId: 'p', caller: modern, asker: { clientCapabilities: forms } };
    const called = call('shop__plain', {}, { caller: { ...modern, door: 'tool-proxy' }, parent });
    await expect.poll(() => pending.list().length).toBe(1);
    pending.decide(String(pending.list()[0]?.id), 'deny');
    await expect(called).rejects.toMatchObject(refusedBecause('declined'));
  });

  it('fills no memory with questions that it does not answer', async () => {
    for (let n = 0; n < 64; n++) await ask({ n });
    await expect(call('shop__plain', {}, agent)).rejects.toMatchObject({ code: 'limit_reached' });
    await ask({}, 'shop__plain', { caller: { ...modern, sessionId: 'other' } });
    approvals.close();
  });
});

describe('calls that wait for the owner', () => {
  it('are bounded: ten thousand leave a thousand, 256 of one grant, and all end with the hub', { tags: ['P-428'] }, async () => {
    const grants = Array.from({ length: 5 }, (_, n) => delegations.delegate([{ kind: 'owner' }], { label: `${n}` }).principal);
    const waits: Record<string, number> = {};
    const called = Array.from({ length: 10_000 }, (_, n) =>
      call(
        'shop__plain',
        { n },
        { caller: { ...legacy, sessionId: `s${n % 100}`, principal: grants[Math.floor(n / 2000)] as Principal } },
      ).then(
        () => 'made',
        (error: { code: string; data: JsonObject }) => `${error.code} ${error.data.reason ?? ''}`,
      ),
    );
    await expect.poll(() => pending.list().length, { timeout: 20_000 }).toBe(1000);
    for (const { caller } of pending.list()) {
      const [grant = ''] = /d_\S+/.exec(caller) ?? [];
      waits[grant] = (waits[grant] ?? 0) + 1;
    }
    expect(Object.values(waits)).toEqual([256, 256, 256, 232]);
    await expect(call('shop__plain', {})).rejects.toMatchObject({ code: 'limit_reached' });
    approvals.close();
    const outcomes = await Promise.all(called);
    expect([
      outcomes.filter((each) => each === 'not_approved closed').length,
      outcomes.filter((each) => each === 'limit_reached ').length,
    ]).toEqual([1000, 9000]);
    expect(pending.list()).toEqual([]);
    await expect(call('shop__plain', {})).rejects.toMatchObject(refusedBecause('closed'));
    expect(reached).toEqual([]);
  });

  it('do not wait where nobody would see them', async () => {
    pending.isWatched = false;
    await expect(call('shop__plain', {})).rejects.toMatchObject(refusedBecause('nobody'));
    // An agent that can be asked other things only.
    const sampling = { clientCapabilities: { sampling: {}, elicitation: { url: {} } }, ask: async () => accept('once') };
    await expect(call('shop__plain', {}, { asker: sampling })).rejects.toMatchObject(refusedBecause('nobody'));
  });
});

it('shows what the agent sent: a layer of the user behind the guard may send something else, and is trusted', async () => {
  const rewrite: Middleware = {
    onCallTool: (context, callNext) => callNext(context.copy({ message: { ...context.message, arguments: { b: 2 } } })),
  };
  open({ layers: [rewrite] });
  const { asked, asker: ofAgent } = asker(() => accept('once'));
  await call('shop__plain', { a: 1 }, { asker: ofAgent });
  expect(String(asked[0]?.params?.message)).toContain('"a": 1');
  expect(reached).toMatchObject([{ arguments: { b: 2 } }]);
});

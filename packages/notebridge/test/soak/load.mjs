// The load of a soak, in a process of its own, so that it can run on another machine than the hubs: `node load.mjs CONFIG_FILE`. It calls until
// a line comes on stdin, waits until everybody is answered again, writes all calls to the file that the config names, and ends.
import { readFileSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { agentKinds, callByProxy, issueGrant, Refused } from './load-callers.mjs';
import { createLoadPage } from './load-page.mjs';

/**
 * @typedef {{ hubs: string[], ownerToken: string, ledger: string, callsFile: string, origin: string, limitMs: number, backMs: number, servers: string[], repeats: boolean }} LoadConfig
 * @typedef {{ by: string, hub: number, grant?: string }} Maker
 */

/** @type {LoadConfig} */
const config = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8'));
const { hubs, ownerToken, ledger, callsFile, origin, limitMs, backMs, servers, repeats } = config;

/** @type {Record<string, unknown>[]} */
const calls = [];
/** @type {Record<string, number>} */
const budgets = {};
/** @type {string[]} */
const notBack = [];
let last = 0;
let isEnding = false;

const pause = (/** @type {number} */ ms) => new Promise((resolve) => setTimeout(resolve, ms));
const anyHub = () => Math.floor(Math.random() * hubs.length);
const anyServer = () => servers[Math.floor(Math.random() * servers.length)] ?? '';
const urlOf = (/** @type {number} */ hub) => hubs[hub] ?? '';
const reasonOf = (/** @type {any} */ error) =>
  [error?.cause?.code ?? error?.code, error?.message ?? error].filter((part) => part !== undefined).join(' ');

/**
 * Makes one call and notes what came of it. True if it was answered as it should be.
 * @param {Maker} maker @param {(n: number, signal: AbortSignal) => Promise<string>} make
 */
async function make(maker, make) {
  const n = ++last;
  const startMs = Date.now();
  const limit = new AbortController();
  /** @type {Record<string, unknown>} */
  let end = {};
  let timer;
  const over = new Promise((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new Error('over'));
      limit.abort();
    }, limitMs);
  });
  over.catch(() => {});
  const asked = make(n, limit.signal);
  asked.catch(() => {});
  try {
    const text = await Promise.race([asked, over]);
    end = text === `marked ${n}` ? { outcome: 'ok' } : { outcome: 'wrong', why: text };
  } catch (error) {
    end = limit.signal.aborted ? { outcome: 'timeout' } : { outcome: 'error', why: reasonOf(error) };
    if (!(error instanceof Refused)) end.isBroken = true;
  } finally {
    clearTimeout(timer);
  }
  calls.push({ n, ...maker, startMs, endMs: Date.now(), ...end });
  return end;
}

const isOk = (/** @type {Record<string, unknown>} */ { outcome }) => outcome === 'ok';
const toReason = (/** @type {Record<string, unknown>} */ { outcome, why = '' }) => `${outcome} ${why}`;

/**
 * Does it again and again until the end, and then until it was answered once more.
 * @param {string} name @param {() => Promise<string | undefined>} step Undefined: a call was answered; else why not.
 */
async function keepCalling(name, step) {
  while (!isEnding) {
    await step();
    await pause(Math.random() * 150);
  }
  let why;
  for (const untilMs = Date.now() + backMs; Date.now() < untilMs; await pause(250)) {
    why = await step();
    if (why === undefined) return;
  }
  notBack.push(`${name} (${why})`);
}

/** @param {keyof typeof agentKinds} kind @param {number} first */
function runAgent(kind, first) {
  /** @type {import('./load-callers.mjs').OpenAgent | undefined} */
  let agent;
  let hub = first;
  return keepCalling(`${kind} of hub ${first}`, async () => {
    try {
      agent ??= await within(20_000, agentKinds[kind]?.(urlOf(hub), ownerToken));
    } catch (error) {
      hub = anyHub();
      return reasonOf(error);
    }
    const ms = Math.random() < 0.2 ? 300 : 0;
    const { call } = agent;
    const end = await make({ by: kind, hub }, (n, signal) => call({ tool: `${anyServer()}__mark`, args: { n, ms } }, signal));
    // A session that is gone, or a connection: an agent begins anew, wherever.
    if (end.isBroken) {
      agent.close().catch(() => {});
      agent = undefined;
      hub = anyHub();
    }
    return isOk(end) ? undefined : toReason(end);
  });
}

/** @param {number} first */
function runSandbox(first) {
  /** @type {{ id: string, token: string } | undefined} */
  let grant;
  let refusals = 0;
  return keepCalling(`sandbox ${first}`, async () => {
    try {
      if (grant === undefined) {
        grant = await issueGrant(urlOf(anyHub()), ownerToken, 30);
        budgets[grant.id] = 30;
      }
    } catch (error) {
      return reasonOf(error);
    }
    const { id, token } = grant;
    // Several at once, at several hubs: where a budget would be exceeded.
    const ends = await Promise.all(
      [1, 2, 3].map(async () => {
        const hub = anyHub();
        const maker = { by: 'sandbox', hub, grant: id };
        return make(maker, async (n, signal) => {
          const call = { server: anyServer(), token, args: { n }, key: repeats ? `soak-${n}` : undefined };
          const once = () => callByProxy(urlOf(hub), call, signal);
          // By its key a call that broke is made again, and is executed once at most.
          return once().catch((error) => (repeats && !(error instanceof Refused) ? pause(500).then(once) : Promise.reject(error)));
        });
      }),
    );
    // It is tried a few times more than it may.
    if (ends.some(({ why }) => String(why).includes('budget')) && ++refusals > 2) {
      refusals = 0;
      grant = undefined;
    }
    return ends.some(isOk) ? undefined : ends.map(toReason).join('; ');
  });
}

/** @param {number} hub */
function runPage(hub) {
  const page = createLoadPage({ name: `page ${hub}`, ledger, origin, hostOf: () => new URL(urlOf(hub)).host });
  /** @type {import('./load-callers.mjs').OpenAgent | undefined} */
  let agent;
  return keepCalling(`page of hub ${hub}`, async () => {
    try {
      agent ??= await within(20_000, agentKinds['sdk-v1']?.(urlOf(hub), ownerToken));
      if (['idle', 'disconnected'].includes(page.state.status)) {
        const open = agent.call({ tool: 'open_colab_browser_connection', args: { wait_seconds: 0 } }, AbortSignal.timeout(20_000));
        const text = await within(
          20_000,
          open.catch((error) => String(error.message)),
        );
        const [, address] = /#mcpProxyToken=([\w-]+&)mcpProxyPort=\d+/.exec(text) ?? [];
        // Its session may be gone, with a hub that was killed just now: it begins anew.
        if (address === undefined) throw new Error(text);
        await within(20_000, page.connectManually(`${address}${new URL(urlOf(hub)).port}`));
      }
    } catch (error) {
      agent?.close().catch(() => {});
      agent = undefined;
      return `${reasonOf(error)}; the page is ${JSON.stringify(page.state)}`;
    }
    const { call } = agent;
    const end = await make({ by: 'page', hub }, (n, signal) => call({ tool: 'mark_page', args: { n } }, signal));
    if (end.isBroken || String(end.why).includes('holds this notebook')) {
      // A page that came back may have another notebook's slot than this hub has of its own by now: the agent looks for it, as a person would have it do.
      await findPage(call).catch((error) => {
        end.why = `${end.why}; ${reasonOf(error)}`;
        agent?.close().catch(() => {});
        agent = undefined;
      });
    }
    return isOk(end) ? undefined : `${toReason(end)}; the page is ${JSON.stringify(page.state)}`;
  }).finally(() => page.disconnect());
}

/**
 * Connects the agent to a notebook whose page is there, and which nobody else holds. Rejects if there is none.
 * @param {import('./load-callers.mjs').OpenAgent['call']} call
 */
async function findPage(call) {
  const ask = (/** @type {string} */ tool, args = {}) => within(15_000, call({ tool, args }, AbortSignal.timeout(15_000)));
  const { notebooks } = /** @type {{ notebooks: { id: string, state: string, holder: unknown, selected: boolean }[] }} */ (
    JSON.parse(await ask('list_notebooks'))
  );
  const free = notebooks.filter(({ state, holder }) => state !== 'waiting' && holder === null);
  const [found] = free;
  if (found === undefined) throw new Error(`no page is there: ${JSON.stringify(notebooks)}`);
  if (!free.some(({ selected }) => selected)) await ask('connect_notebook', { notebook: found.id });
}

/** @template Value @param {number} ms @param {Promise<Value> | undefined} promise @returns {Promise<Value>} */
async function within(ms, promise) {
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  const late = new Promise((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('too late')), ms);
  });
  try {
    return /** @type {Value} */ (await Promise.race([promise, late]));
  } finally {
    clearTimeout(timer);
  }
}

const stop = () => {
  isEnding = true;
};
// Who started it may be gone before it says so.
createInterface({ input: process.stdin }).once('line', stop).once('close', stop);
const kinds = /** @type {(keyof typeof agentKinds)[]} */ (Object.keys(agentKinds));
const running = hubs.flatMap((_, hub) => [...kinds.map((kind) => runAgent(kind, hub)), runSandbox(hub), runPage(hub)]);
process.stdout.write('loading\n');
await Promise.all(running);
writeFileSync(callsFile, JSON.stringify({ calls, budgets, notBack }));
process.exit();

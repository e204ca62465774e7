// @module-tag P-694

/** What an agent is told of a kernel that is another one than at its last call. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createNotebookHost } from '@notebridge/notebook/host';
import type { ToolResult } from '@notebridge/protocol/core/mcp';
import type { Provider } from '@notebridge/protocol/core/provider';
import type { JsonObject } from '@notebridge/protocol/json';
import { expect, it, onTestFinished } from 'vitest';
import { TinyKernel } from '../../../notebook/test/fixtures/tiny-kernel.js';
import { toTerms } from '../../src/assembly/notebooks/page-options.js';
import { HostLink } from '../../src/broker/host-link.js';
import { dialHost } from '../../src/broker/join-link.js';
import { JoinListener } from '../../src/broker/join-listener.js';
import { JoinedNotebook } from '../../src/broker/joined-notebook.js';
import { SharedNotebook } from '../../src/broker/shared-notebook.js';
import { LayeredProvider } from '../../src/middleware/layered-provider.js';
import { nameOfAgent } from '../../src/notebooks/call-notebook-tool.js';
import { KernelNewsMiddleware } from '../../src/notebooks/local/kernel-news.js';
import { LocalNotebook } from '../../src/notebooks/local/local-notebook.js';
import { createContext } from '../support/create-context.js';

const ann = { kind: 'person', name: 'Ann' } as const;

/** A notebook in memory, held by this process. */
async function open() {
  const host = createNotebookHost({ kernel: new TinyKernel() });
  onTestFinished(() => host.close());
  await host.start();
  const provider = new LayeredProvider(new LocalNotebook({ host, writeAddress: async () => '' }), [new KernelNewsMiddleware(host)]);
  onTestFinished(() => provider.close());
  return { host, provider };
}

/** What an answer says beside what was asked for. */
async function newsIn(provider: Provider, sessionId: string, name = 'get_cells'): Promise<string[]> {
  const params: JsonObject = { name, arguments: {} };
  const caller = { sessionId, door: 'library', era: 'legacy', clientInfo: { name: sessionId } } as const;
  const { content = [] } = (await provider.request('tools/call', params, createContext('tools/call', params, { caller }))) as ToolResult;
  return content.slice(1).map(({ text }) => String(text));
}

it('one that another has restarted is told of once, and its own restart is not', async () => {
  const { host, provider } = await open();
  expect(await newsIn(provider, 'one')).toEqual([]);
  expect(await newsIn(provider, 'two')).toEqual([]);
  await host.session.restart({ by: ann });
  expect(await newsIn(provider, 'one')).toEqual([
    expect.stringMatching(/restarted by "Ann" since your last call.*variables are gone.*"Tiny"/),
  ]);
  expect(await newsIn(provider, 'one')).toEqual([]);
  expect(await newsIn(provider, 'new here')).toEqual([]);
  expect(await newsIn(provider, 'one', 'restart_kernel')).toEqual([]);
  expect(await newsIn(provider, 'one')).toEqual([]);
  expect(await newsIn(provider, 'two')).toEqual([expect.stringContaining('restarted by "one"')]);
});

it('one of a notebook that a person has opened again is told of, with what code can do there, and which kernel was asked for', async () => {
  const offered: string[] = [];
  let life = 0;
  const share = async (): Promise<SharedNotebook> => {
    const { provider } = await open();
    const isolation = `Life ${++life}.`;
    const kernel = { isUsing: () => false, offer: (named: string) => void offered.push(named), isolation: () => isolation };
    const describe = () => ({ title: 'work.ipynb', location: '/work.ipynb', kernel: 'tiny 1', state: 'idle' });
    const state = () => ({ windows: 0, isRunning: false, unsaved: undefined });
    const address = { kind: 'built-in', file: '/work.ipynb' } as const;
    return new SharedNotebook({ provider, address, terms: toTerms({}, false), describe, kernel, state }, 'nb1');
  };
  let held = await share();
  onTestFinished(() => held.end());
  const dir = mkdtempSync(join(tmpdir(), 'notebridge-news-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const version = '1.0.0';
  const listener = await JoinListener.open({
    dir,
    version,
    createHandler: (peer) =>
      new HostLink(peer, {
        open: async () => ({ notebook: held, isNew: false }),
        left: () => {},
        all: () => [held],
        stop: async () => {},
      }),
  });
  onTestFinished(() => listener.close());
  const { address, secret } = listener;
  let tellLoss: (text: string) => void = () => {};
  const lost = new Promise<string>((resolve) => {
    tellLoss = resolve;
  });
  const joined = new JoinedNotebook({
    connect: (createHandler) =>
      dialHost({ kind: 'notebook', address, secret, pid: process.pid, startedAt: Date.now(), version }, version, createHandler),
    open: { ...toTerms({ kernel: '/venv/bin/python' }, false), how: {} },
    instructions: '',
    windowTool: undefined,
    showWindow: () => Promise.reject(new Error('It has no window.')),
    nameOfAgent,
    tools: undefined,
    answerTimeoutMs: 60_000,
    logger: { debug() {}, info() {}, warn: tellLoss, error() {} },
  });
  onTestFinished(() => joined.close());
  expect(await newsIn(joined, 'one')).toEqual([expect.stringContaining('--kernel /venv/bin/python was not used')]);
  expect(await newsIn(joined, 'one')).toEqual([]);
  const before = held;
  held = await share();
  before.end();
  expect(await lost).toBe('The process that held the notebook has ended. The next call opens it again.');
  expect(await newsIn(joined, 'one')).toEqual([expect.stringMatching(/with a new kernel. Variables are gone.*Life 2\..*was not used/)]);
  expect(await newsIn(joined, 'one')).toEqual([]);
  expect(offered).toEqual(['/venv/bin/python', '/venv/bin/python']);
});

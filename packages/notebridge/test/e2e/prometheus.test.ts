// @module-tag deep
// @module-tag P-494

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '@notebridge/protocol/json';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findPrometheus } from '../../../../scripts/prometheus.mjs';
import { bareEnvironment } from '../support/bare-environment.js';
import { HubCluster } from '../support/hub-cluster.js';
import { monitoringFolder as monitoring } from '../support/manifests.js';
import { natsProgram, whyNoNats } from '../support/nats.js';
import { fixtureServer } from '../support/upstreams.js';

const programs = await findPrometheus();
const read = (file: string): string => readFileSync(join(monitoring, file), 'utf8');
const why = programs === undefined ? ': no Prometheus here, and no Debian package of it' : '';
const root = fileURLToPath(new URL('../../../../', import.meta.url));
const soon = { timeout: 90_000, interval: 500 };

describe.skipIf(programs === undefined)(`the monitoring of the chart with a real Prometheus${why}`, () => {
  const { prometheus = '', promtool = '' } = programs ?? {};
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'prometheus-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('its own tool finds nothing in the rules, and would find a fault', async () => {
    expect(await runToEnd(promtool, ['check', 'rules', join(monitoring, 'notebridge-alerts.yml')])).toMatchObject({ code: 0 });
    const broken = join(folder, 'broken.yml');
    writeFileSync(broken, read('notebridge-alerts.yml').replace('== 0', '=== 0'));
    expect(await runToEnd(promtool, ['check', 'rules', broken])).not.toMatchObject({ code: 0 });
  });

  it('each alert fires once in its test and points to its page, and a change of it is noticed', { tags: ['P-719'] }, async () => {
    const tests = 'notebridge-alerts.test.yml';
    const good = await runToEnd(promtool, ['test', 'rules', join(monitoring, tests)]);
    expect(good, good.output).toMatchObject({ code: 0 });
    const rules = read('notebridge-alerts.yml');
    const place = join(folder, 'changed');
    mkdirSync(place);
    writeFileSync(join(place, tests), read(tests));
    const alerts = rules.split(/(?=^ {6}- alert: )/m);
    for (const alert of alerts.slice(1)) {
      writeFileSync(join(place, 'notebridge-alerts.yml'), rules.replace(alert, alert.replace('runbook_url: docs', 'runbook_url: doc')));
      const changed = await runToEnd(promtool, ['test', 'rules', join(place, tests)]);
      expect(changed.output, alert).toContain('FAILED');
      expect(changed.code).not.toBe(0);
    }
  });

  it('every expression of the dashboard is one of Prometheus', async () => {
    const { panels } = JSON.parse(read('grafana-dashboard.json')) as { panels: { targets: { expr: string }[] }[] };
    const expressions = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
    expect(expressions.length).toBeGreaterThan(25);
    const rules = expressions.map((expr, index) => ({ record: `panel:${index}`, expr }));
    const file = join(folder, 'dashboard.yml');
    // JSON is YAML.
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'dashboard', rules }] }));
    expect(await runToEnd(promtool, ['check', 'rules', file])).toMatchObject({ code: 0 });
  });

  describe.skipIf(natsProgram === undefined)(`beside a cluster${whyNoNats}`, () => {
    it('scrapes each hub with a token that rotates, and fires when a token ends, a server or a hub is killed, or NATS is', {
      timeout: 600_000,
      tags: ['P-718'],
    }, async () => {
      const works = join(folder, 'works');
      writeFileSync(works, '');
      const tokens = join(folder, 'tokens');
      mkdirSync(tokens);
      const put = (name: string, token: string): void => writeFileSync(join(tokens, name), token, { mode: 0o600 });
      const [first, second] = [randomBytes(32).toString('hex'), randomBytes(32).toString('hex')];
      put('token', first);
      await using cluster = await HubCluster.start({
        names: ['a', 'b'],
        servers: () => ({ notes: { command: process.execPath, args: [fixtureServer('exits.mjs'), works] } }),
        notebridge: { telemetry: { metrics: true, scrapeTokens: tokens } },
      });
      const [a, b] = [cluster.hub('a'), cluster.hub('b')];
      const hosts = [a, b].map(({ url }) => new URL(url).host);
      await a.call('notes', 'echo', {}, a.ownerToken);
      await a.request('/api/v1/hub', { token: `nbg_${'x'.repeat(43)}` });
      const tokenFile = join(folder, 'token');
      writeFileSync(tokenFile, first);
      writeFileSync(join(folder, 'notebridge-alerts.yml'), sooner(read('notebridge-alerts.yml')));
      const config = read('prometheus.yml')
        .replaceAll('/etc/prometheus/notebridge.token', tokenFile)
        .replace('["localhost:8765"]', JSON.stringify(hosts))
        .replace('scrape_interval: 15s', 'scrape_interval: 2s');
      writeFileSync(join(folder, 'prometheus.yml'), `global: { evaluation_interval: 500ms }\n${config}`);
      const args = ['--config.file', join(folder, 'prometheus.yml'), '--storage.tsdb.path', join(folder, 'data')];
      const child = spawn(prometheus, [...args, '--web.listen-address=127.0.0.1:0'], {
        env: bareEnvironment(),
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      const ended = once(child, 'exit');
      try {
        const url = `http://${await addressOf(child)}`;
        const ask = async (path: string): Promise<JsonObject> => {
          const answer = await fetch(`${url}/api/v1${path}`).catch(() => undefined);
          return answer?.ok === true ? (((await answer.json()) as JsonObject).data as JsonObject) : {};
        };
        const query = async (expr: string): Promise<{ metric: JsonObject; value: [number, string] }[]> =>
          ((await ask(`/query?query=${encodeURIComponent(expr)}`)).result as never) ?? [];
        /** How the scrapes after a moment were. */
        const since = async (moment: number): Promise<string[]> => {
          const { activeTargets = [] } = (await ask('/targets')) as {
            activeTargets?: { health: string; lastError: string; lastScrape: string }[];
          };
          const later = activeTargets.filter(({ lastScrape }) => Date.parse(lastScrape) > moment);
          return later.map(({ health, lastError }) => `${health} ${/\d{3}/.exec(lastError)?.[0] ?? ''}`.trim());
        };
        const firing = async (): Promise<string[]> => {
          const alerts = ((await ask('/alerts')).alerts ?? []) as { state: string; labels: JsonObject; annotations: JsonObject }[];
          return (
            alerts
              // How busy this machine is, is no part of it.
              .filter(({ state, labels }) => state === 'firing' && labels.alertname !== 'NotebridgeBusy')
              .map(({ labels: { alertname, instance }, annotations: { runbook_url: page } }) => {
                expect(existsSync(join(root, String(page)))).toBe(true);
                return `${alertname} ${'ab'[hosts.indexOf(String(instance))] ?? 'all'}`;
              })
              .sort()
          );
        };
        await expect.poll(async () => (await query('up{job="notebridge"} == 1')).length, soon).toBe(2);
        expect(await query('notebridge_calls_total{server="notes"}')).toMatchObject([
          {
            metric: { tool: 'echo', door: 'tool-proxy', outcome: 'ok', job: 'notebridge', instance: hosts[0] },
            value: [expect.anything(), '1'],
          },
        ]);
        const known = (await ask('/label/__name__/values')) as unknown as string[];
        const used = [read('notebridge-alerts.yml'), read('grafana-dashboard.json')].flatMap(
          (text) => text.match(/\b(notebridge|nodejs|process)_[a-z0-9_]+\b/g) ?? [],
        );
        expect(new Set(used).size).toBeGreaterThan(20);
        for (const name of used) expect(known).toContain(name);
        // A busy hub may have missed a scrape or two.
        await expect.poll(firing, soon).toEqual([]);
        // As the guide rotates: the hubs know the new one before it is used, and the old one until nobody uses it.
        put('next', second);
        await expect
          .poll(async () => Promise.all([a, b].map(async (hub) => (await hub.request('/metrics', { token: second })).status)), soon)
          .toEqual([200, 200]);
        writeFileSync(tokenFile, second);
        put('token', second);
        put('previous', first);
        unlinkSync(join(tokens, 'next'));
        let moment = Date.now();
        await expect.poll(() => since(moment), soon).toEqual(['up', 'up']);
        unlinkSync(join(tokens, 'previous'));
        moment = Date.now() + 1000;
        await expect.poll(() => since(moment), soon).toEqual(['up', 'up']);
        // A scraper that keeps one that has ended.
        writeFileSync(tokenFile, first);
        await expect.poll(firing, soon).toEqual(['NotebridgeDown a', 'NotebridgeDown all', 'NotebridgeDown b']);
        expect(await since(moment)).toEqual(['down 401', 'down 401']);
        writeFileSync(tokenFile, second);
        await expect.poll(firing, soon).toEqual([]);
        unlinkSync(works);
        const state = (await (await a.request('/api/v1/hub/servers', { token: a.ownerToken })).json()) as { servers: { pid: number }[] };
        process.kill(state.servers[0]?.pid ?? 0, 'SIGKILL');
        await expect.poll(firing, soon).toContain('NotebridgeServerDown a');
        // No grant is accepted then, and the token still is.
        await Promise.all(cluster.nats.nodes.map((node) => node.kill()));
        await expect
          .poll(firing, soon)
          .toEqual(expect.arrayContaining(['NotebridgeNatsLost a', 'NotebridgeNatsLost all', 'NotebridgeNatsLost b']));
        moment = Date.now() + 6000;
        await expect.poll(() => since(moment), soon).toEqual(['up', 'up']);
        await Promise.all(cluster.nats.nodes.map((node) => node.start()));
        await expect.poll(async () => (await firing()).filter((alert) => alert.startsWith('NotebridgeNatsLost')), soon).toEqual([]);
        await cluster.kill('b');
        await expect.poll(firing, soon).toContain('NotebridgeDown b');
      } finally {
        child.kill('SIGKILL');
        await ended;
      }
    });
  });
});

/** Where it listens, as it says itself. */
function addressOf(child: ChildProcess): Promise<string> {
  let said = '';
  return new Promise((resolve, reject) => {
    child.stderr?.setEncoding('utf8').on('data', (piece: string) => {
      said += piece;
      const [, address] = /"Listening on" address=(\S+)/.exec(said) ?? [];
      if (address !== undefined) resolve(address);
    });
    child.once('exit', () => reject(new Error(`Prometheus has ended: ${said}`)));
  });
}

function runToEnd(program: string, args: string[]): Promise<{ code: number; output: string }> {
  return new Promise((resolve) =>
    execFile(program, args, { env: bareEnvironment(), timeout: 60_000 }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), output: `${stdout}${stderr}` }),
    ),
  );
}

/** The same rules, but for how long a fault must last. */
function sooner(rules: string): string {
  expect(rules).toMatch(/^ +for: 1m$/m);
  return rules.replaceAll(/^( +)for: \w+$/gm, '$1for: 1s');
}

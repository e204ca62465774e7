// @module-tag deep
// @module-tag P-494

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '@notebridge/kit/json';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findPrometheus } from '../../../../scripts/prometheus.mjs';
import { bareEnvironment } from '../support/bare-environment.js';
import { ServedHub } from '../support/served-hub.js';
import { fixtureServer } from '../support/upstreams.js';

const programs = await findPrometheus();
const monitoring = fileURLToPath(new URL('../../../../deploy/monitoring/', import.meta.url));
const read = (file: string): string => readFileSync(join(monitoring, file), 'utf8');
const why = programs === undefined ? ': no Prometheus here, and no Debian package of it' : '';

describe.skipIf(programs === undefined)(`deploy/monitoring with a real Prometheus${why}`, () => {
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

  it('every expression of the dashboard is one of Prometheus', async () => {
    const { panels } = JSON.parse(read('grafana-dashboard.json')) as { panels: { targets: { expr: string }[] }[] };
    const expressions = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
    expect(expressions.length).toBeGreaterThan(15);
    const rules = expressions.map((expr, index) => ({ record: `panel:${index}`, expr }));
    const file = join(folder, 'dashboard.yml');
    // JSON is YAML.
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'dashboard', rules }] }));
    expect(await runToEnd(promtool, ['check', 'rules', file])).toMatchObject({ code: 0 });
  });

  it('scrapes a hub, has every metric of rules and dashboard, and fires when a server is killed', { timeout: 300_000 }, async () => {
    const works = join(folder, 'works');
    writeFileSync(works, '');
    await using hub = await ServedHub.start({
      servers: { notes: { command: process.execPath, args: [fixtureServer('exits.mjs'), works] } },
      notebridge: { telemetry: { metrics: true } },
      args: ['--notebook', 'none'],
    });
    const tokenFile = join(folder, 'token');
    await hub.run('grant', '--door', 'watch', '--file', tokenFile);
    await hub.call('notes', 'echo', {}, hub.ownerToken);
    await hub.request('/api/v1/hub', { token: `nbg_${'x'.repeat(43)}` });
    writeFileSync(join(folder, 'notebridge-alerts.yml'), sooner(read('notebridge-alerts.yml')));
    const config = read('prometheus.yml')
      .replaceAll('/etc/prometheus/notebridge.token', tokenFile)
      .replace('localhost:8765', new URL(hub.url).host)
      .replace('scrape_interval: 15s', 'scrape_interval: 1s');
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
      await expect.poll(async () => (await query('up{job="notebridge"} == 1')).length, { timeout: 60_000 }).toBe(1);
      expect(await query('notebridge_calls_total{server="notes"}')).toMatchObject([
        { metric: { tool: 'echo', door: 'tool-proxy', outcome: 'ok', job: 'notebridge' }, value: [expect.anything(), '1'] },
      ]);
      const known = (await ask('/label/__name__/values')) as unknown as string[];
      const used = [read('notebridge-alerts.yml'), read('grafana-dashboard.json')].flatMap(
        (text) => text.match(/\b(notebridge|nodejs|process)_[a-z0-9_]+\b/g) ?? [],
      );
      expect(new Set(used).size).toBeGreaterThan(10);
      for (const name of used) expect(known).toContain(name);
      const firing = async (): Promise<unknown[]> => {
        const alerts = ((await ask('/alerts')).alerts ?? []) as { state: string; labels: JsonObject }[];
        return alerts.filter(({ state }) => state === 'firing').map(({ labels: { alertname, server } }) => [alertname, server]);
      };
      // A busy hub may have missed a scrape or two.
      await expect.poll(firing, { timeout: 60_000 }).toEqual([]);
      unlinkSync(works);
      const state = (await (await hub.request('/api/v1/hub/servers', { token: hub.ownerToken })).json()) as { servers: { pid: number }[] };
      process.kill(state.servers[0]?.pid ?? 0, 'SIGKILL');
      await expect.poll(firing, { timeout: 60_000 }).toContainEqual(['NotebridgeServerDown', 'notes']);
      await hub.stop();
      await expect.poll(firing, { timeout: 60_000 }).toContainEqual(['NotebridgeDown', undefined]);
    } finally {
      child.kill('SIGKILL');
      await ended;
    }
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

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defaultClusterAudit } from '@notebridge/cluster/cluster-settings';
import { natsPackages } from '@notebridge/cluster/nats/connect-nats';
import { toAuditConfig } from '@notebridge/cluster/nats/nats-streams';
import type { JsonObject } from '@notebridge/protocol/json';
import { expect } from 'vitest';
import { natsServer, whyNoNatsServer } from '../../../../scripts/nats-server.mjs';
import { loadConfig } from '../../src/config/load-config.js';
import { bareEnvironment } from './bare-environment.js';
import { chartFolder, helm, renderChart } from './chart.js';
import { documentsOf } from './deployment.js';
import { withCommand } from './installed-command.js';
import { ownPort } from './own-port.js';
import { installedServer } from './served-hub.js';

const root = fileURLToPath(new URL('../../../../', import.meta.url));

/** What is done with the snippets of docs/cluster.md; `folder` is where the reader's shell stands. */
export function clusterRuns(folder: string): Record<string, (code: string) => Promise<void>> {
  let config: JsonObject = {};
  let start = '';
  return {
    async 'cluster-install'(code) {
      // The guide to operating compares them with what the package names.
      expect(code).toBe(`npm install ${natsPackages.join(' ')}`);
    },
    async 'cluster-config'(code) {
      const file = join(folder, 'cluster.json');
      writeFileSync(file, code);
      writeFileSync(join(folder, 'cluster-key'), 'k'.repeat(32), { mode: 0o600 });
      await loadConfig({ file, env: {} });
      config = JSON.parse(code) as JsonObject;
      expect(code).toContain('@modelcontextprotocol/server-memory');
    },
    async 'cluster-start'(code) {
      start = code;
      expect(code.match(/notebridge serve/g)).toHaveLength(2);
    },
    /** Runs what stands in the two snippets above it, at free ports. */
    async 'cluster-try'(code) {
      const nats = await natsServer();
      if (nats === undefined) return void process.stderr.write(`tests: the guide to clusters is not run, since ${whyNoNatsServer}\n`);
      const ports = await Promise.all(Array.from({ length: 3 }, ownPort));
      const elsewhere = (text: string): string =>
        ['4222', '8771', '8772'].reduce((all, port, at) => all.replaceAll(port, String(ports[at])), text);
      const place = mkdtempSync(join(folder, 'cluster-'));
      const memory = { ...installedServer('memory'), env: { MEMORY_FILE_PATH: join(place, 'memory.jsonl') }, placement: 'one' };
      writeFileSync(join(place, 'mcp.json'), elsewhere(JSON.stringify({ ...config, mcpServers: { memory } })));
      const path = [dirname(nats), dirname(process.execPath), process.env.PATH].join(delimiter);
      const env = withCommand({ ...bareEnvironment(), HOME: place, PATH: path }, place);
      const isThere = (port: number | undefined): string =>
        `until curl -sf http://127.0.0.1:${port}/readyz > /dev/null; do sleep 0.2; done`;
      const both = ports.slice(1).map(isThere).join('\n');
      // What the text between the snippets says to do, and by which names.
      const [page, drain] = [readFileSync(join(root, 'docs/cluster.md'), 'utf8'), 'kill %2'];
      expect(page).toContain(`- \`${drain}\` drains it: `);
      expect(page).toContain(`--stream ${toAuditConfig('N', defaultClusterAudit).name} `);
      const drained = `${drain}\nnotebridge call --hub two memory read_graph | sed 's/carries/still carries/'`;
      const steps = `${elsewhere(start)}\n${both}\nuntil grep -q two log-one; do sleep 0.2; done\n${elsewhere(code)}\n${drained}\n`;
      const script = steps.replace(/^(notebridge serve --name (\w+) .*) &$/gm, '$1 2> log-$2 &');
      const answers = await untilEnd(script, { cwd: place, env });
      expect(answers).toMatch(/^one /m);
      expect(answers).toMatch(/^two /m);
      expect(answers).toContain('carries calls');
      expect(answers.match(/"success":true/g), answers).toHaveLength(2);
      expect(answers).toContain('budget_exhausted');
      expect(answers).toContain('still carries calls');
      rmSync(place, { recursive: true, force: true });
    },
    /** Only what of it is ours can be looked at here. */
    async 'needs-helm'(code) {
      const values = readFileSync(join(chartFolder, 'values.yaml'), 'utf8');
      for (const line of code.split('\n')) {
        expect(line).toMatch(/^(helm (repo add|install) |kubectl (create secret (generic|tls)|rollout status) |openssl req )/);
        for (const [, file = ''] of line.matchAll(/(deploy\/\S+)/g))
          expect(() => readFileSync(join(root, file, file.endsWith('.yaml') ? '' : 'Chart.yaml'))).not.toThrow();
        for (const [, key = ''] of line.matchAll(/--from-literal=([\w.-]+)=/g))
          expect(values).toMatch(new RegExp(`^ {2,4}key: ${key}$`, 'm'));
      }
    },
    'cluster-values': (code) => render(folder, { code, kinds: ['StatefulSet'] }),
    /** In docs/operating.md: put to the values of a cluster, or of a hub alone. */
    'metrics-values': (code) => render(folder, { code: `hubs: 1\n${code}`, kinds: ['StatefulSet', 'PodMonitor', 'PrometheusRule'] }),
  };
}

/** Has the chart rendered with the values of a guide; these kinds must be in what comes. */
async function render(folder: string, { code, kinds }: { code: string; kinds: readonly string[] }): Promise<void> {
  const written = join(folder, 'my-values.yaml');
  writeFileSync(written, code);
  const [values = {}] = await documentsOf(written);
  if (helm.program === undefined) return void process.stderr.write(`tests: the values of the guide are not rendered, since ${helm.why}\n`);
  mkdirSync(join(folder, 'chart'), { recursive: true });
  const documents = await documentsOf(await renderChart(join(folder, 'chart'), values));
  expect(documents.map(({ kind }) => kind)).toEqual(expect.arrayContaining([...kinds]));
}

/** Runs a script as a session of its own, ends all that it left running, and answers with what it printed. */
async function untilEnd(script: string, options: { cwd: string; env: Record<string, string> }): Promise<string> {
  const child = spawn('bash', ['--norc', '-euc', script], { ...options, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  let [output, faults] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    faults += text;
  });
  const closed = once(child, 'close');
  const timer = setTimeout(() => signal(child.pid, 'SIGKILL'), 60_000);
  const [code] = (await once(child, 'exit')) as [number | null];
  clearTimeout(timer);
  signal(child.pid, 'SIGTERM');
  const late = setTimeout(() => signal(child.pid, 'SIGKILL'), 30_000);
  await closed;
  clearTimeout(late);
  expect(code, `${output}${faults}`).toBe(0);
  return output;
}

function signal(group: number | undefined, name: NodeJS.Signals): void {
  try {
    process.kill(-(group ?? 0), name);
  } catch {
    // All of it has ended.
  }
}

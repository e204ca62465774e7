import { appendAll } from '@notebridge/kit/long-lists';
import type { SandboxMode } from '@notebridge/notebook/host';
import { withClusterUrls } from '../../config/cluster-settings.js';
import { Redactor } from '../../util/redactor.js';
import { asTyped } from '../own-command.js';
import { createProgressLine, type Paint, paintFor } from '../terminal.js';
import { withoutControls } from '../terminal-logger.js';
import type { Check } from './check.js';
import { checkBroker } from './check-broker.js';
import { checkCluster } from './check-cluster.js';
import { checkConfig } from './check-config.js';
import { checkHubs, checkPort, findOwnHub } from './check-hub.js';
import { checkJupyter } from './check-jupyter.js';
import { checkOwnPython } from './check-kernels.js';
import { checkBrowser, checkKernel, checkNode, checkSandbox } from './check-machine.js';
import type { ClusterSeen } from './check-one-server.js';
import { checkFolder, checkStateDir } from './check-places.js';
import { checkPolicy } from './check-policy.js';
import { checkServers } from './check-servers.js';
import { checkTabs } from './check-tabs.js';

export interface DoctorOptions {
  config?: string;
  port: number;
  cluster?: string[];
  sharedDir?: string;
  logDir: string;
  /** False: the built-in Python is not started. */
  kernel: boolean;
  sandbox?: SandboxMode;
  json?: boolean;
}

/** Looks at everything and prints what it found. Exit code 1 if there is a fault. */
export async function runDoctor({ sandbox = 'auto', ...options }: DoctorOptions): Promise<void> {
  const { stdout, stderr } = process;
  const redactor = new Redactor();
  const checks: Check[] = [];
  const paint = paintFor(stdout);
  const line = createProgressLine(options.json === true ? { write: () => {} } : stderr);
  const report = (found: readonly Check[]): void => {
    const clean = found.map((check) => withoutSecrets(check, redactor));
    appendAll(checks, clean);
    line.clear();
    if (options.json !== true) for (const check of clean) stdout.write(toText(check, paint));
  };
  const look = async (what: string, check: () => Promise<Check[]> | Check[]): Promise<void> => {
    line.show(`Looking at ${what} …`);
    report(await check());
  };

  await look('Node', () => [checkNode(process.versions.node)]);
  const { config, checks: ofConfig } = await checkConfig(options.config);
  await look('the config', () => ofConfig);
  await look('your state folder', () => [checkStateDir(), checkFolder('log folder', options.logDir, '--log-dir')]);
  if (options.sharedDir !== undefined)
    await look('the shared folder', () => [checkFolder('shared folder', options.sharedDir ?? '', '--shared-dir')]);
  await look('running hubs', checkHubs);
  if (config !== undefined) await look('approvals and code mode', async () => checkPolicy(config, (await findOwnHub()) !== undefined));
  const cluster = withClusterUrls(config?.cluster, options.cluster);
  let hubs: ClusterSeen['hubs'];
  if (cluster !== undefined)
    await look('the cluster', async () => {
      const seen = await checkCluster(cluster, redactor);
      hubs = seen.hubs;
      return seen.checks;
    });
  await look('open notebooks', () => checkBroker());
  await look('notebook pages', () => checkTabs(config));
  await look(`port ${options.port}`, async () => [await checkPort(options.port)]);
  await look('the browser', () => [checkBrowser(process.env)]);
  await look('the sandbox', () => checkSandbox(sandbox));
  if (options.kernel) await look('the built-in notebook', () => checkKernel(sandbox));
  await look('the kernels', async () => [await checkOwnPython()]);
  await look('Jupyter servers', checkJupyter);
  const count = config?.servers.length ?? 0;
  if (config !== undefined && count > 0)
    await look(`${count} servers`, () => checkServers(config, { redactor, cluster: { isNamed: cluster !== undefined, hubs } }));
  finish(checks, options.json === true);
}

function finish(checks: readonly Check[], asJson: boolean): void {
  const faults = checks.filter(({ status }) => status === 'fault').length;
  if (faults > 0) process.exitCode = 1;
  if (asJson) process.stdout.write(`${JSON.stringify({ ok: faults === 0, checks })}\n`);
  else process.stdout.write(faults === 0 ? '\nNo faults.\n' : `\n${faults} ${faults === 1 ? 'fault' : 'faults'}.\n`);
}

function toText({ name, status, found, next, ms }: Check, paint: Paint): string {
  const mark = { ok: paint.green('ok   '), note: paint.yellow('note '), fault: paint.red('FAULT') }[status];
  const [first = '', ...others] = withoutControls(found).trimEnd().split('\n');
  const time = ms === undefined ? '' : paint.dim(` (${ms} ms)`);
  const advice = next === undefined ? [] : asTyped(withoutControls(next)).split('\n');
  const more = [...others, ...advice.map((line) => `→ ${line}`)];
  return `${mark} ${paint.bold(name)}: ${first}${time}\n${more.map((line) => `        ${line}\n`).join('')}`;
}

/** What servers print may hold what they were given. */
function withoutSecrets(check: Check, redactor: Redactor): Check {
  const { next } = check;
  return { ...check, found: redactor.redactOurs(check.found), ...(next === undefined ? {} : { next: redactor.redactOurs(next) }) };
}

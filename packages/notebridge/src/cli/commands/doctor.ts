import { resolve } from 'node:path';
import { withClusterUrls } from '@notebridge/cluster/cluster-settings';
import { appendAll } from '@notebridge/protocol/util/long-lists';
import { Redactor } from '@notebridge/protocol/util/redactor';
import { clusterOption } from '../cluster/cluster-option.js';
import { parsePort, sharedOptions } from '../command-options.js';
import { defineCommand, type OptionsOf, option } from '../define-command.js';
import type { Check } from '../doctor/check.js';
import { checkBroker } from '../doctor/check-broker.js';
import { checkCluster } from '../doctor/check-cluster.js';
import { checkConfig } from '../doctor/check-config.js';
import { checkHubs, checkPort, findOwnHub } from '../doctor/check-hub.js';
import { checkJupyter, checkKernel, checkOwnPython, checkSandbox } from '../doctor/check-kernels.js';
import { checkBrowser, checkFolder, checkNode, checkStateDir } from '../doctor/check-machine.js';
import { checkPolicy } from '../doctor/check-policy.js';
import { type ClusterSeen, checkServers } from '../doctor/check-servers.js';
import { checkTabs } from '../doctor/check-tabs.js';
import { asTyped } from '../own-command.js';
import { createProgressLine, paint, printJsonLine } from '../terminal.js';
import { withoutControls } from '../terminal-logger.js';

const options = [
  sharedOptions.json,
  sharedOptions.config,
  option('--port <number>', 'the port of "notebridge serve"', { default: 8765, parse: parsePort }),
  option('--shared-dir <dir>', 'the folder shared with kernels, if there is one', { parse: (dir: string) => resolve(dir) }),
  clusterOption('--cluster <urls>', 'the NATS of the cluster (default: that of the config)'),
  sharedOptions.logDir,
  sharedOptions.sandbox,
  option('--no-kernel', 'do not start the built-in Python, which takes some seconds'),
];

/** `notebridge doctor`: looks at the whole set-up. */
export const doctorCommand = defineCommand({ options, run: runDoctor });

/** Looks at everything and prints what it found. Exit code 1 if there is a fault. */
async function runDoctor({ sandbox = 'auto', json = false, sharedDir, port, ...given }: OptionsOf<typeof options>): Promise<void> {
  const { stdout, stderr } = process;
  const redactor = new Redactor();
  const checks: Check[] = [];
  const line = createProgressLine(json ? { write: () => {} } : stderr);
  const look = async (what: string, check: () => Promise<Check | Check[]> | Check | Check[]): Promise<void> => {
    line.show(`Looking at ${what} …`);
    const found = [await check()].flat().map((each) => withoutSecrets(each, redactor));
    appendAll(checks, found);
    line.clear();
    if (!json) for (const each of found) stdout.write(toText(each));
  };

  await look('Node', checkNode);
  const { config, checks: ofConfig } = await checkConfig(given.config);
  await look('the config', () => ofConfig);
  await look('your state folder', () => [checkStateDir(), checkFolder('log folder', given.logDir, '--log-dir')]);
  if (sharedDir !== undefined) await look('the shared folder', () => checkFolder('shared folder', sharedDir, '--shared-dir'));
  await look('running hubs', checkHubs);
  if (config !== undefined) await look('approvals and code mode', async () => checkPolicy(config, (await findOwnHub()) !== undefined));
  const cluster = withClusterUrls(config?.cluster, given.cluster);
  let hubs: ClusterSeen['hubs'];
  if (cluster !== undefined)
    await look('the cluster', async () => {
      const seen = await checkCluster(cluster, redactor);
      hubs = seen.hubs;
      return seen.checks;
    });
  await look('open notebooks', checkBroker);
  await look('notebook pages', () => checkTabs(config));
  await look(`port ${port}`, () => checkPort(port));
  await look('the browser', checkBrowser);
  await look('the sandbox', () => checkSandbox(sandbox));
  if (given.kernel) await look('the built-in notebook', () => checkKernel(sandbox));
  await look('the kernels', checkOwnPython);
  await look('Jupyter servers', checkJupyter);
  const count = config?.servers.length ?? 0;
  if (config !== undefined && count > 0)
    await look(`${count} servers`, () => checkServers(config, redactor, { isNamed: cluster !== undefined, hubs }));

  const faults = checks.filter(({ status }) => status === 'fault').length;
  if (faults > 0) process.exitCode = 1;
  if (json) printJsonLine({ ok: faults === 0, checks });
  else stdout.write(faults === 0 ? '\nNo faults.\n' : `\n${faults} ${faults === 1 ? 'fault' : 'faults'}.\n`);
}

function toText({ name, status, found, next, ms }: Check): string {
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

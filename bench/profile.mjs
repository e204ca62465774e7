// Where the time of a call goes: runs a burst through a profiled Notebridge and prints the functions with the most self time.
//   node bench/profile.mjs [--stdio | --serve "grant and audit"|"--no-auth"|"2025-11-25"|"2026-07-28"] [--program FILE] [--concurrency 64] [--size LETTERS] [--seconds 6] [--top 30] [--keep FILE]
// --stdio takes a call from an agent to a tool server, both on stdio, in place of one from an agent to a page.
// --serve takes a call of the gateways' bench, through `notebridge serve`, in place of one from an agent to a page.
// Without --size the calls are short echoes. --keep saves the .cpuprofile, for Chrome's devtools or speedscope.
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { callEcho, callPayload, startGateway } from './gateways/gateway.mjs';
import { burst as burstThrough } from './gateways/measure.mjs';
import { targets } from './gateways/targets.mjs';
import { burst, startCrossing, startMiddle } from './lib/crossing.mjs';
import { notebridge } from './lib/targets.mjs';

const { values } = parseArgs({
  options: {
    serve: { type: 'string' },
    stdio: { type: 'boolean', default: false },
    program: { type: 'string' },
    concurrency: { type: 'string', default: '64' },
    size: { type: 'string' },
    seconds: { type: 'string', default: '6' },
    top: { type: 'string', default: '30' },
    keep: { type: 'string' },
  },
});
const folder = mkdtempSync(join(tmpdir(), 'notebridge-profile-'));
const nodeArgs = ['--cpu-prof', '--cpu-prof-interval=200', `--cpu-prof-dir=${folder}`];
const size = Number(values.size ?? 0);

try {
  const { window, calls } = await (values.stdio
    ? profileStdio()
    : values.serve === undefined
      ? profileCrossing()
      : profileServe(values.serve));
  const file = join(folder, readdirSync(folder).find((name) => name.endsWith('.cpuprofile')) ?? 'none');
  if (values.keep !== undefined) copyFileSync(file, values.keep);
  print(selfTimes(JSON.parse(readFileSync(file, 'utf8')), window), calls);
} catch (error) {
  process.stderr.write(`profile: ${error.message}\n`);
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exit();

async function profileCrossing() {
  const call = size > 0 ? (agent) => agent.payload(size) : (agent) => agent.echo();
  const crossing = await startCrossing(notebridge(values.program), nodeArgs);
  const profiled = await profileBursts((ms) => burst(crossing, { call, concurrency: Number(values.concurrency), maxCalls: 1_000_000, ms }));
  await crossing.end();
  return profiled;
}

async function profileStdio() {
  const config = join(folder, 'mcp.json');
  const server = fileURLToPath(new URL('gateways/programs/echo-server.mjs', import.meta.url));
  writeFileSync(config, JSON.stringify({ mcpServers: { it: { command: process.execPath, args: [server], names: 'plain' } } }));
  const { args, ...target } = notebridge(values.program);
  const [program] = args;
  const own = [program, 'stdio', '--notebook', 'none', '--standalone', '--config', config];
  const middle = startMiddle({ ...target, args: own }, nodeArgs);
  await middle.agent.initialize();
  const call = size > 0 ? (agent) => agent.payload(size) : (agent) => agent.echo();
  const profiled = await profileBursts((ms) =>
    burst({ ...middle, processes: [middle.pid] }, { call, concurrency: Number(values.concurrency), maxCalls: 1_000_000, ms }),
  );
  await middle.end();
  return profiled;
}

async function profileServe(name) {
  const target = targets.find((one) => one.kind === 'ours' && one.name.includes(name));
  if (target === undefined) throw new Error(`There is no "${name}" among: ${targets.map((one) => one.name).join('; ')}.`);
  const call = size > 0 ? (gateway, caller, connection) => callPayload(gateway, caller, connection, size) : callEcho;
  const gateway = await startGateway(target, nodeArgs);
  const profiled = await profileBursts((ms) => burstThrough(gateway, { call, concurrency: Number(values.concurrency), ms }));
  await gateway.end();
  return profiled;
}

async function profileBursts(burstFor) {
  await burstFor(2000);
  const from = clockUs();
  const { callMs } = await burstFor(Number(values.seconds) * 1000);
  return { window: { from, to: clockUs() }, calls: callMs.length };
}

/** The clock that V8 stamps samples with: that of the system since it booted, the same in every process (on Linux and macOS). */
function clockUs() {
  return Number(process.hrtime.bigint() / 1000n);
}

/** Self time in µs by function, of the samples inside the window: start-up and warming up are left out. */
function selfTimes(profile, { from, to }) {
  const nodes = new Map(profile.nodes.map((node) => [node.id, node.callFrame]));
  const times = new Map();
  let at = profile.startTime;
  for (const [index, id] of profile.samples.entries()) {
    const us = profile.timeDeltas[index];
    at += us;
    if (at < from || at > to) continue;
    const name = nameOf(nodes.get(id));
    times.set(name, (times.get(name) ?? 0) + us);
  }
  return times;
}

function nameOf({ functionName, url, lineNumber }) {
  const place = url.startsWith('node:') ? url : url.replace(/^.*\/(?:dist|node_modules)\//, '');
  return `${functionName || '(anonymous)'}${place === '' ? '' : `  ${place}:${lineNumber + 1}`}`;
}

function print(times, calls) {
  const idle = '(idle)';
  const busyUs = [...times].reduce((total, [name, us]) => (name === idle ? total : total + us), 0);
  const line = (us, name) => `${((100 * us) / busyUs).toFixed(1).padStart(6)} %  ${(us / calls).toFixed(2).padStart(9)} µs/call  ${name}\n`;
  process.stdout.write(`${calls} calls, ${(busyUs / calls).toFixed(2)} µs busy per call (profiling included)\n\nBy function, self time:\n`);
  const sorted = [...times].filter(([name]) => name !== idle).sort(([, a], [, b]) => b - a);
  for (const [name, us] of sorted.slice(0, Number(values.top))) process.stdout.write(line(us, name));

  const files = new Map();
  for (const [name, us] of sorted) {
    const file = / {2}(.*):\d+$/.exec(name)?.[1] ?? basename(name);
    files.set(file, (files.get(file) ?? 0) + us);
  }
  process.stdout.write('\nBy file, self time:\n');
  for (const [file, us] of [...files].sort(([, a], [, b]) => b - a).slice(0, 20)) process.stdout.write(line(us, file));
}

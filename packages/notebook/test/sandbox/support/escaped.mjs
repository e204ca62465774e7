// What code does that has got out of everything above the operating system: it has all of Node, and no permission flag holds it.
// Tells, for each attempt, what came of it. The arguments are what it would like to reach on the host.
import { spawnSync } from 'node:child_process';
import dgram from 'node:dgram';
import dns from 'node:dns/promises';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import { Worker } from 'node:worker_threads';

const [, program = '', given = ''] = process.argv;
const host = JSON.parse(given);
/** @type {{ [attempt: string]: string }} */
const found = {};
/** @param {string} name
 * @param {() => unknown} act */
const attempt = async (name, act) => {
  try {
    found[name] = `did: ${JSON.stringify(await act())}`;
  } catch (error) {
    const { code, message } = /** @type {NodeJS.ErrnoException} */ (error);
    found[name] = code ?? message;
  }
};
/** @param {net.NetConnectOpts} options */
const connect = (options) =>
  new Promise((resolve, reject) => {
    const socket = net.connect(options, () => resolve('connected'));
    socket.on('error', reject);
  });
/** @param {number} port
 * @param {string} address */
const send = (port, address) =>
  new Promise((resolve, reject) => {
    const socket = dgram.createSocket('udp4').on('error', reject);
    socket.send('x', port, address, (error) => (error ? reject(error) : resolve('sent')));
  });

// Files of the host.
for (const [index, path] of host.files.entries()) await attempt(`read${index}`, () => fs.readFileSync(path, 'utf8'));
for (const [index, path] of host.folders.entries()) await attempt(`list${index}`, () => fs.readdirSync(path));
await attempt(
  'readByDescriptor',
  () =>
    fs.readdirSync('/proc/self/fd').filter((fd) => {
      try {
        return fs.statSync(`/proc/self/fd/${fd}`).isDirectory() && fs.readdirSync(`/proc/self/fd/${fd}/${host.folders[0]}`);
      } catch {
        return false;
      }
    }).length || Promise.reject(new Error('no folder is open')),
);
await attempt('readByRoot', () => fs.readFileSync(`/proc/1/root${host.files[0]}`));
await attempt('readByParent', () => fs.readFileSync(`/proc/${process.ppid}/root${host.files[0]}`));
await attempt('write', () => fs.writeFileSync(host.files[0], 'changed'));
await attempt('device', () => fs.readFileSync('/dev/mem'));
await attempt('deviceNull', () => fs.chmodSync('/dev/null', 0o600));
// Places to write to.
for (const folder of ['/', '/tmp/', '/dev/', '/dev/shm/', '/proc/', '/run/', '/var/tmp/', host.readable])
  await attempt(`writeTo ${folder}`, () => fs.writeFileSync(`${folder}/written`, 'x'));
await attempt('chmodOwn', () => fs.chmodSync(program, 0o777));
await attempt('touchOwn', () => fs.utimesSync(program, 1, 1));
await attempt('truncateNode', () => fs.truncateSync(process.execPath, 0));
// Settings of the machine.
for (const name of [
  'sys/kernel/core_pattern',
  'sys/kernel/hostname',
  'sys/vm/drop_caches',
  'sysrq-trigger',
  'self/oom_score_adj',
  'self/mem',
  'self/uid_map',
  'self/setgroups',
])
  await attempt(`proc ${name}`, () => fs.writeFileSync(`/proc/${name}`, '0'));
// Other processes.
await attempt('processes', () => fs.readdirSync('/proc').filter((name) => Number(name) > 1));
await attempt('signalParent', () => process.kill(process.ppid || host.pid, 'SIGUSR1'));
await attempt('signalHost', () => process.kill(host.pid, 0));
await attempt('debugHost', () => Reflect.get(process, '_debugProcess')(host.pid));
await attempt('start', () => {
  const { error, status } = spawnSync(process.execPath, ['-v']);
  if (error) throw error;
  return status;
});
await attempt('priority', () => os.setPriority(0, -20));
// Servers of the host.
for (const [index, port] of host.ports.entries()) {
  await attempt(`tcp${index}`, () => connect({ port, host: '127.0.0.1' }));
  await attempt(`tcp6${index}`, () => connect({ port, host: '::1' }));
}
for (const [index, address] of host.addresses.entries())
  await attempt(`address${index}`, () => connect({ port: host.ports[0], host: address }));
await attempt('unixPath', () => connect({ path: host.socket }));
await attempt('unixAbstract', () => connect({ path: host.abstract }));
await attempt('udp', () => send(host.udp, '127.0.0.1'));
await attempt('udpOutside', () => send(53, '192.0.2.1'));
await attempt('lookup', () => dns.lookup('example.com'));
await attempt('interfaces', () => os.networkInterfaces());
// Itself.
await attempt('environment', () => process.env);
await attempt('rootInside', () => process.setuid?.(0));
await attempt(
  'thread',
  () =>
    new Promise((resolve, reject) => {
      new Worker('require("node:worker_threads").parentPort.postMessage(process.getuid())', { eval: true })
        .on('message', resolve)
        .on('error', reject);
    }),
);
await attempt('identity', () => [process.pid, process.getuid?.(), process.getgid?.(), process.getgroups?.(), os.hostname()]);
await attempt('root', () => fs.readdirSync('/').sort());
process.stdout.write(`${JSON.stringify(found)}\n`, () => process.exit(0));

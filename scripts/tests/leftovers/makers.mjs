// Remembers who made what a test file may leave behind: timers, servers, sockets, child processes and temporary folders. Nothing else
// of theirs is changed. What node: modules export is replaced before a test file imports it.
import { subscribe } from 'node:diagnostics_channel';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const require = createRequire(import.meta.url);
const root = fileURLToPath(new URL('../../../', import.meta.url));
const here = fileURLToPath(new URL('.', import.meta.url));
/** So many timers may be kept in mind before those that are over are forgotten. */
const manyTimers = 10_000;

/** Of a process or thread, which may run several files and loads this module for each of them. */
const place = Symbol.for('notebridge.leftovers');
globalThis[place] ??= {
  temporaryFolder: tmpdir(),
  isFollowing: false,
  testName: undefined,
  open: { timers: new Map(), servers: new Map(), sockets: new Map(), children: new Map(), folders: new Map() },
};
const kept = globalThis[place];

/** What is still open, each with its maker. */
export const { open, temporaryFolder } = kept;

/** The test that runs now: it stands in what is said of the things that it makes. */
export function nameTest(name) {
  kept.testName = name;
}

/** Who is at work now. Its text is made only when it is asked for: a stack is quick to take and slow to write. */
function makerNow() {
  return { testName: kept.testName, error: new Error() };
}

/** For the next file of a process or thread that runs several. */
export function forgetAll() {
  for (const each of Object.values(open)) each.clear();
}

export function describeMaker(maker) {
  if (maker === undefined) return 'by a process that the test started';
  const frames = (maker.error?.stack ?? '').split('\n').flatMap((line) => {
    const found = /(?:file:\/\/)?(\/[^\s()]+?|[A-Za-z]:[^\s()]+?):(\d+):\d+\)?$/.exec(line);
    if (!found?.[1].startsWith(root) || found[1].startsWith(here) || found[1].includes('/node_modules/')) return [];
    return [`${relative(root, found[1])}:${found[2]}`];
  });
  const by = frames.length > 0 ? `by ${frames.slice(0, 3).join(' < ')}` : 'by code outside the checkout';
  return maker.testName ? `${by}, in the test "${maker.testName}"` : by;
}

/** Once in a process or thread, however many files it runs. */
export function followMakers() {
  if (kept.isFollowing) return;
  kept.isFollowing = true;
  followTimers();
  followServers();
  followFolders();
  followSockets('net.client.socket');
  followSockets('net.server.socket');
  subscribe('child_process', ({ process: child }) => open.children.set(child, makerNow()));
  syncBuiltinESMExports();
}

function followTimers() {
  const timers = require('node:timers');
  for (const name of ['setTimeout', 'setInterval']) {
    const original = globalThis[name];
    const followed = (...args) => {
      const timer = original(...args);
      if (open.timers.size > manyTimers) forgetOldTimers();
      open.timers.set(timer, makerNow());
      return timer;
    };
    Object.defineProperties(followed, Object.getOwnPropertyDescriptors(original));
    globalThis[name] = followed;
    timers[name] = followed;
  }
  const promised = require('node:timers/promises');
  const { setTimeout: wait } = promised;
  promised.setTimeout = (delay, value, options) => {
    const waiting = wait(delay, value, options);
    if (options?.ref === false) return waiting;
    const entry = { hasRef: () => true, _idleTimeout: delay ?? 1 };
    open.timers.set(entry, makerNow());
    const forget = () => open.timers.delete(entry);
    waiting.then(forget, forget);
    return waiting;
  };
}

function forgetOldTimers() {
  for (const timer of open.timers.keys()) if (timer._destroyed) open.timers.delete(timer);
}

function followServers() {
  const { Server } = require('node:net');
  const { listen } = Server.prototype;
  Server.prototype.listen = function (...args) {
    open.servers.set(this, makerNow());
    this.once('close', () => open.servers.delete(this));
    return listen.apply(this, args);
  };
}

function followSockets(channel) {
  subscribe(channel, ({ socket }) => {
    open.sockets.set(socket, makerNow());
    socket.once('close', () => open.sockets.delete(socket));
  });
}

function followFolders() {
  const fs = require('node:fs');
  const note = (folder, maker) => {
    open.folders.set(String(folder), maker);
    return folder;
  };
  const { mkdtempSync, mkdtemp } = fs;
  const { mkdtemp: promised } = fs.promises;
  fs.mkdtempSync = (...args) => note(mkdtempSync(...args), makerNow());
  fs.mkdtemp = (...args) => {
    const maker = makerNow();
    const done = args.pop();
    mkdtemp(...args, (error, folder) => done(error, error ? folder : note(folder, maker)));
  };
  fs.promises.mkdtemp = async (...args) => {
    const maker = makerNow();
    return note(await promised(...args), maker);
  };
}

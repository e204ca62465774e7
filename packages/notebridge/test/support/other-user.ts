import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';

/** Users of every Linux system that own nothing: `nobody`, and one without a name. */
export const [nobody, stranger] = [65_534, 64_999];

/** Why there can be no other user: only root starts programs of others. */
export const whyNoOther =
  process.platform === 'linux' && process.geteuid?.() === 0 ? undefined : 'needs Linux, and root to be another user';

export interface ForeignRequest {
  url: string;
  method?: string;
  headers?: Record<string, string>;
  body?: string;
}

export interface ForeignReply {
  /** 101: a WebSocket was let in. */
  status: number;
  text: string;
}

/** A program of the other user: it makes the requests of its standard input, one after the other, and prints the replies as JSON. */
const client = `
const { request } = require('node:http');
const ask = ({ url, method = 'GET', headers = {}, body }) => new Promise((resolve) => {
  const asked = request(url, { method, headers, agent: false });
  asked.on('upgrade', ({ statusCode }, socket) => { socket.destroy(); resolve({ status: statusCode, text: '' }); });
  asked.on('response', (answer) => {
    let text = '';
    answer.setEncoding('utf8').on('data', (piece) => { text += piece; }).on('end', () => resolve({ status: answer.statusCode, text }));
  });
  asked.on('error', ({ message }) => resolve({ status: 0, text: message }));
  asked.end(body);
});
let input = '';
process.stdin.on('data', (piece) => { input += piece; }).on('end', async () => {
  const replies = [];
  for (const one of JSON.parse(input)) replies.push(await ask(one));
  process.stdout.write(JSON.stringify(replies));
});`;

/** Makes requests as another user of this machine. */
export async function requestAs(uid: number, requests: readonly ForeignRequest[]): Promise<ForeignReply[]> {
  const child = spawn(process.execPath, ['-e', client], { uid, gid: uid, cwd: '/', env: {}, stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.end(JSON.stringify(requests));
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    text += piece;
  });
  await once(child, 'close');
  return JSON.parse(text) as ForeignReply[];
}

/** A Chromium of another user. `address`: of its debugger. */
export interface ForeignChromium extends AsyncDisposable {
  address: string;
}

export async function startChromiumAs(uid: number, executable: string): Promise<ForeignChromium> {
  // The folder for temporary files of a test is closed to others.
  const home = mkdtempSync('/var/tmp/notebridge-other-user-');
  chownSync(home, uid, uid);
  const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--remote-debugging-port=0'];
  const child: ChildProcess = spawn(executable, [...flags, `--user-data-dir=${home}/profile`, 'about:blank'], {
    ...{ uid, gid: uid, cwd: home, env: { HOME: home, PATH: process.env.PATH ?? '' }, detached: true },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (piece: string) => {
    said += piece;
  });
  const ended = once(child, 'close');
  const close = async (): Promise<void> => {
    // Its group: the program that is started may be a script.
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) process.kill(-child.pid, 'SIGKILL');
    await ended;
    await rm(home, { recursive: true, force: true, maxRetries: 5 });
  };
  for (;;) {
    const address = /DevTools listening on (ws:\S+)/.exec(said)?.[1];
    if (address !== undefined) return { address, [Symbol.asyncDispose]: close };
    await Promise.race([child.stderr && once(child.stderr, 'data'), ended]);
    if (child.exitCode === null && child.signalCode === null) continue;
    await close();
    throw new Error(`Chromium has ended (${child.exitCode ?? child.signalCode}): ${said}`);
  }
}

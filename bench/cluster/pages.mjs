// Many pages at rest over three hubs: memory of NATS and bytes of the bucket for each.
import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { home } from '../lib/children.mjs';
import { memoryMbOf } from '../lib/proc.mjs';
import { sleep } from '../lib/stats.mjs';
import { startNats } from './hubs.mjs';

const fileOf = (path) => fileURLToPath(new URL(path, import.meta.url));

/** Kilobytes for each page. */
export async function measurePages({ quick, say }) {
  const count = quick ? 300 : 10_000;
  const nats = await startNats();
  const key = randomBytes(32).toString('hex');
  const forks = [];
  const start = (file, args) => {
    const child = fork(fileOf(file), args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    forks.push(child);
    return child;
  };
  try {
    const names = ['a', 'b', 'c'];
    const hubs = names.map((name) => start('page-hub.mjs', [name, nats.url, key, mkdtempSync(join(home, 'pages-'))]));
    await Promise.all(hubs.map((hub) => answerOf(hub, ({ isReady }) => isReady)));
    await sleep(3000);
    const before = { rssMb: nats.rssMb(), hubMb: memoryOf(hubs), ...(await nats.bucket()) };
    say(`${count} pages`);
    const made = await Promise.all(
      hubs.map((hub, index) => {
        hub.send({ count: Math.floor((count + index) / 3) });
        return answerOf(hub, ({ tokens }) => tokens !== undefined);
      }),
    );
    // In tens of connections at once, as many browsers would.
    const pages = start('../pages/many.mjs', []);
    let id = 0;
    for (const { port, tokens } of made)
      for (let from = 0; from < tokens.length; from += 100) {
        const asked = ++id;
        pages.send({ id: asked, what: 'open', port, tokens: tokens.slice(from, from + 100) });
        await answerOf(pages, (answer) => answer.id === asked);
      }
    await allThere(hubs, count);
    const idleMs = quick ? 2000 : 60_000;
    say(`${count} pages at rest`);
    await sleep(idleMs / 2);
    const at = { cpuUs: nats.cpuUs(), messages: await nats.messages() };
    await sleep(idleMs / 2);
    const seconds = idleMs / 2000;
    const after = { rssMb: nats.rssMb(), hubMb: memoryOf(hubs), ...(await nats.bucket()) };
    return {
      count,
      natsKb: ((after.rssMb - before.rssMb) * 1024) / count,
      bucketKb: (after.bytes - before.bytes) / 1024 / count,
      keys: (after.keys - before.keys) / count,
      hubKb: ((after.hubMb - before.hubMb) * 1024) / count,
      natsMsPerSecond: (nats.cpuUs() - at.cpuUs) / 1000 / seconds,
      messagesPerSecond: ((await nats.messages()) - at.messages) / seconds,
    };
  } finally {
    for (const child of forks) child.kill('SIGKILL');
    await nats.end();
  }
}

async function allThere(hubs, count) {
  for (;;) {
    const states = await Promise.all(
      hubs.map((hub) => {
        hub.kill('SIGUSR2');
        return answerOf(hub, ({ connected }) => connected !== undefined);
      }),
    );
    const total = (key) => states.reduce((sum, state) => sum + state[key], 0);
    if (total('connected') === count && total('written') === count) return;
    await sleep(500);
  }
}

/** The first answer that is meant. */
function answerOf(child, isMeant) {
  return new Promise((resolve, reject) => {
    const ended = () => reject(new Error('A process of the bench ended.'));
    const take = (answer) => {
      if (!isMeant(answer)) return;
      child.off('message', take).off('exit', ended);
      resolve(answer);
    };
    child.on('message', take).once('exit', ended);
  });
}

function memoryOf(children) {
  return children.reduce((sum, { pid }) => sum + memoryMbOf(pid).rssMb, 0);
}

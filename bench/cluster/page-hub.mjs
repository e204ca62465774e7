// The pages of one hub of a cluster, in a process of its own, without doors: bench/cluster/pages.mjs forks it.
//   node page-hub.mjs NAME NATS KEY FOLDER       a message {count} has it make so many pages; it answers {port, tokens} when all are claimed

import { ClusterPages } from '../../packages/notebridge/dist/assembly/cluster/cluster-pages.js';
import { Cluster } from '../../packages/notebridge/dist/assembly/cluster/open-cluster.js';
import { openClusterPage } from '../../packages/notebridge/dist/assembly/cluster/open-cluster-page.js';
import { PageListener } from '../../packages/notebridge/dist/notebooks/pages/page-listener.js';
import { colabProfile } from '../../packages/notebridge/dist/notebooks/profiles/colab.js';
import { RunLedger } from '../../packages/notebridge/dist/notebooks/runs/run-ledger.js';
import { sleep } from '../lib/stats.mjs';

const [name, url, key, dir] = process.argv.slice(2);
const quiet = () => {};
const logger = {
  debug: quiet,
  info: quiet,
  warn: (text) => process.stderr.write(`${name}: ${text}\n`),
  error: (text) => process.stderr.write(`${name}: ${text}\n`),
};
const settings = { urls: [url], name: 'notebridge', hubName: name, drainMs: 1000, audit: false };
const cluster = new Cluster({
  settings,
  key: Buffer.from(key, 'hex'),
  version: '0',
  logger,
  redactor: { add: quiet, delete: quiet },
  load: () => 0,
});
await cluster.start();
const { claims, calls, membership, store, runtime } = cluster;
const pages = new ClusterPages({ claims, calls, membership, store, runtime, logger, profiles: [colabProfile] });
const listener = await PageListener.open({
  port: 0,
  slots: [],
  finder: pages,
  logger,
  maxMessageBytes: 1_000_000,
  describePortOwner: async () => undefined,
  onRefusedPage: ({ reason }) => process.stderr.write(`${name}: a page was refused: ${reason}\n`),
});
const ledger = new RunLedger({ dir, uid: process.getuid?.(), logger });
pages.start((kept) =>
  openClusterPage(kept, {
    listener: { port: listener.port, refused: { add: quiet }, silentConnections: 0 },
    clientInfo: { name: 'bench', version: '1' },
    secrets: { add: quiet, delete: quiet },
    isJournalled: false,
    ledger,
    openBrowser: async () => ({ opened: false, reason: 'no_display', hint: '' }),
    connectAddress: () => '',
    env: {},
    logger,
  }),
);

process.on('message', async ({ count }) => {
  const made = [];
  for (let index = 0; index < count; index++) {
    made.push(pages.create({ profile: colabProfile, url: `https://colab.research.google.com/drive/${name}-${index}-${'x'.repeat(24)}` }));
    // Not all at once, as no agent does it.
    if (index % 50 === 49) await settled(made.slice(-50));
  }
  await settled(made);
  process.send({ port: listener.port, tokens: made.map(({ page }) => page.slot.token) });
});
process.on('disconnect', () => process.exit());
process.send({ isReady: true });
/** How many have a page, and whether all that is known of them is written. */
process.on('SIGUSR2', () =>
  process.send({
    connected: pages.held.filter((held) => held.isConnected).length,
    written: pages.held.filter((held) => !held.isBehind).length,
  }),
);

async function settled(made) {
  while (made.some((held) => held.isBehind)) await sleep(5);
}

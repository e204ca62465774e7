/** A program that makes a notebook too large for where it is, tells what becomes of it, and makes it small again. */

import { silentLogger } from '@notebridge/protocol/util/logger';
import { FileStore } from '../../../src/host/file-store.js';

// Exceeding a limit of the file size raises this signal, which would end the program.
process.on('SIGXFSZ', () => {});
const [path = ''] = process.argv.slice(2);
const by = { kind: 'person', name: 'Ann' } as const;
const store = await FileStore.open({ path, logger: silentLogger, timing: { quietMs: 10, retryMs: 20 } });
const say = (what: object) => process.stdout.write(`${JSON.stringify(what)}\n`);
let wasFailed = false;
store.onState((state) => {
  if (state.kind === 'failed' && !wasFailed) {
    wasFailed = true;
    say({ failed: state.detail });
  }
  if (state.kind === 'saved' && wasFailed) say({ saved: true });
});
const { id } = store.document.insert(0, { type: 'raw', source: 'x'.repeat(3_000_000) }, { by });
process.stdin.once('data', () => store.document.update(id, 'small', { by }));
process.stdin.once('end', () => void store.close());

/** A program that edits a notebook and saves it, as fast as it can, until it is killed. Says so on stdout. */

import { silentLogger } from '@notebridge/protocol/util/logger';
import { FileStore } from '../../../src/host/file-store.js';

const [path = ''] = process.argv.slice(2);
const by = { kind: 'person', name: 'Ann' } as const;
const store = await FileStore.open({ path, logger: silentLogger });
const { document } = store;
for (let round = 0; ; round++) {
  // Texts of very different lengths: a part of one is easily told from another.
  const source = `round ${round}\n`.repeat(1 + ((round * 7919) % 2000));
  const first = document.cells[0];
  if (!first || document.cells.length < 5) document.insert(0, { type: 'code', source }, { by });
  else if (round % 7 === 0) document.delete(first.id, { by });
  else document.update(first.id, source, { by });
  await store.save();
  process.stdout.write(`${round}\n`);
}

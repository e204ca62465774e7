import { join } from 'node:path';
import { silentLogger } from '@notebridge/protocol/util/logger';
import { onTestFinished } from 'vitest';
import { FileStore, type FileStoreOptions } from '../../../src/host/file-store.js';
import type { Actor } from '../../../src/model/cell.js';
import { temporaryFolder } from './folder.js';
import { until } from './until.js';

export const ann: Actor = { kind: 'person', name: 'Ann' };

/** The fastest timing that still shows the order of things. */
export const quick = { quietMs: 20, longestMs: 100, retryMs: 50 };

export async function openStore(options: Partial<FileStoreOptions> = {}): Promise<FileStore> {
  const path = options.path ?? join(await temporaryFolder(), 'test.ipynb');
  const store = await FileStore.open({ timing: quick, logger: silentLogger, ...options, path });
  onTestFinished(() => store.close().catch(() => {}));
  return store;
}

export function stateOf(store: FileStore, kind: FileStore['state']['kind']): Promise<true> {
  return until(() => store.state.kind === kind);
}

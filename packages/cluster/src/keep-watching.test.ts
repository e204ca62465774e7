import { toLogger } from '@notebridge/protocol/util/logger';
import type { SharedStore, StoreChange } from '@notebridge/system/files/shared-store';
import { describe, expect, it } from 'vitest';
import { createVirtualTime } from '../../notebridge/test/support/hubs-in-memory.js';
import { keepWatching } from './keep-watching.js';

describe('keepWatching', () => {
  it('opens one watch, also if what listens throws at what there was, and tells it all the rest', async () => {
    const time = createVirtualTime(1);
    const watches: { listener: (change: StoreChange) => void; isClosed: boolean }[] = [];
    const watch: SharedStore['watch'] = async (_prefix, listener) => {
      const opened = { listener, isClosed: false };
      watches.push(opened);
      for (const key of ['p.bad', 'p.good']) listener({ key, entry: undefined, revision: 1 });
      return {
        close: () => {
          opened.isClosed = true;
        },
      };
    };
    const heard: string[] = [];
    const errors: string[] = [];
    const stop = keepWatching({
      store: { watch } as Partial<SharedStore> as SharedStore,
      runtime: time,
      prefix: 'p.',
      logger: toLogger((_level, _message, { error }) => errors.push(String(error))),
      listener: ({ key }) => {
        heard.push(key);
        if (key === 'p.bad') throw new Error('of a listener');
      },
      onTold: () => heard.push('told'),
    });
    await time.pass(10_000);
    expect(heard).toEqual(['p.bad', 'p.good', 'told']);
    expect(errors).toEqual(['of a listener']);
    expect(watches).toHaveLength(1);
    watches[0]?.listener({ key: 'p.later', entry: undefined, revision: 2 });
    expect(heard.at(-1)).toBe('p.later');
    stop();
    expect(watches[0]?.isClosed).toBe(true);
  });
});

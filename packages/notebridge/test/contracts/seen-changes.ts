import type { StoreChange } from '@notebridge/system/files/shared-store';

/** What a watch has said, and what there is by it. */
export function createSeen() {
  const changes: StoreChange[] = [];
  const last = (key: string): StoreChange | undefined => changes.findLast((change) => change.key === key);
  return {
    changes,
    last,
    listener: (change: StoreChange): void => void changes.push(change),
    state: (): Record<string, [value: string, revision: number]> => {
      const keys = [...new Set(changes.map(({ key }) => key))].toSorted();
      const there = keys.flatMap((key) => last(key)?.entry ?? []);
      return Object.fromEntries(there.map((entry) => [entry.key, [entry.value, entry.revision]]));
    },
  };
}

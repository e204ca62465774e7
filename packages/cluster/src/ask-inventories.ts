import type { ClusterParts } from './cluster-parts.js';
import { InventorySigner, inventoryAnswers, inventoryQuestions, type ToldInventory } from './inventory-messages.js';

export interface AskInventoriesOptions extends Pick<ClusterParts, 'bus' | 'runtime' | 'cluster' | 'key'> {
  /** Ids of those that are to answer. */
  hubs: readonly string[];
  timeoutMs: number;
}

/** Asks all hubs at once what they have for themselves. By their ids; who did not answer in time is not among them. Never rejects. */
export async function askInventories(options: AskInventoriesOptions): Promise<ReadonlyMap<string, ToldInventory>> {
  const { bus, runtime, cluster, key, hubs, timeoutMs } = options;
  const signer = new InventorySigner(key, cluster);
  const asker = runtime.bytes(12).toString('base64url');
  const answers = new Map<string, ToldInventory>();
  if (hubs.length === 0) return answers;
  await new Promise<void>((resolve) => {
    const finish = (): void => {
      callOff();
      unsubscribe();
      resolve();
    };
    const callOff = runtime.after(timeoutMs, finish);
    const unsubscribe = bus.subscribe(inventoryAnswers(asker), (payload) => {
      const answer = signer.parseAnswer(asker, payload);
      if (answer === undefined || !hubs.includes(answer.hub)) return;
      answers.set(answer.hub, answer.inventory);
      if (answers.size === hubs.length) finish();
    });
    bus.publish(inventoryQuestions, signer.printQuestion({ asker, hubs, at: runtime.now() }));
  });
  return answers;
}

import { BudgetPlay } from './budgets.js';
import { CallsPlay } from './calls.js';
import { OwnershipPlay } from './ownership.js';
import type { Play, SimulatedCluster } from './simulated-cluster.js';

export type Setting = (cluster: SimulatedCluster) => Play;

/** What must hold, by name. Calls cost most to simulate, and have all of ownership in them. */
const sound: Record<string, Setting> = {
  ownership: (cluster) => new OwnershipPlay(cluster),
  calls: (cluster) => new CallsPlay(cluster),
  budgets: (cluster) => new BudgetPlay(cluster),
};

/** The same with a fault of ours that is put in on purpose, to see that it is found. */
export const planted: Record<string, Setting> = {
  'held-whatever-the-clock-says': (cluster) => new OwnershipPlay(cluster, { planted: 'held whatever the clock says' }),
  'writes-over-whatever-is-there': (cluster) => new OwnershipPlay(cluster, { planted: 'writes over whatever is there' }),
  'starts-whatever-comes': (cluster) => new CallsPlay(cluster, { planted: 'starts whatever comes' }),
  'calls-again-without-an-answer': (cluster) => new CallsPlay(cluster, { planted: 'calls again without an answer' }),
  'budgets-written-over': (cluster) => new BudgetPlay(cluster, { planted: 'writes over whatever is there' }),
  'blocks-never-given-back': (cluster) => new BudgetPlay(cluster, { planted: 'never gives a block back' }),
  'grants-believed-from-the-watch': (cluster) => new BudgetPlay(cluster, { planted: 'believes its watch' }),
};

const turns = ['ownership', 'calls', 'ownership', 'budgets', 'ownership', 'ownership', 'budgets', 'ownership'];

/** What a seed plays, if nobody says: five of eight ownership, one calls, two budgets. */
export function playOf(seed: number): string {
  return turns[seed % turns.length] ?? 'ownership';
}

export function settingOf(play: string): Setting {
  const setting = sound[play] ?? planted[play];
  if (!setting) throw new Error(`There is no play "${play}"; there are ${Object.keys({ ...sound, ...planted }).join(', ')}.`);
  return setting;
}

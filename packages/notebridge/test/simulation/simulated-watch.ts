import type { StoreChange, StoreWatch } from '@notebridge/system/files/shared-store';
import type { Life, SimulatedHub } from './simulated-hub.js';
import type { StoreLeader } from './store-leader.js';
import type { World } from './world.js';

interface WatchParts {
  world: World;
  leader: StoreLeader;
  hub: SimulatedHub;
  life: Life;
  prefix: string;
  listener: (change: StoreChange) => void;
}

/**
 * Tells the changes in their order: late, some twice, and of those that were missed while the link was cut sometimes only the last of each
 * key, as a store without history does. `told` resolves when all that there was has been told.
 */
export function openWatch({ world, leader, hub, life, prefix, listener }: WatchParts): { watch: StoreWatch; told: Promise<void> } {
  let position = Math.max(0, leader.log.length - (world.chance.happens(world.weather.behind) ? world.chance.below(4) : 0));
  let isClosed = false;
  let isPlanned = false;
  const first = leader.asOf(prefix, position).map((entry) => ({ key: entry.key, entry, revision: entry.revision }));

  const tell = (changes: readonly StoreChange[]) => {
    for (const change of changes) {
      const times = world.chance.happens(world.weather.toldTwice) ? 2 : 1;
      if (times === 2) world.count('told twice');
      for (let time = 0; time < times && !isClosed; time += 1) {
        try {
          listener(change);
        } catch (error) {
          world.problem(`A listener of "${prefix}" at ${hub.name} threw ${String(error)}`);
        }
      }
    }
  };
  const missed = () => {
    const changes = leader.log.slice(position).filter(({ key }) => key.startsWith(prefix));
    const wasBehind = changes.length > 1 && world.chance.happens(0.5);
    const newest = new Map(changes.map((change) => [change.key, change]));
    position = leader.log.length;
    return wasBehind ? changes.filter((change) => newest.get(change.key) === change) : changes;
  };
  const plan = () => {
    if (isClosed || isPlanned || !life.isAlive || position >= leader.log.length) return;
    isPlanned = true;
    const lagMs = world.chance.happens(world.weather.stale) ? world.chance.between(0, world.weather.lagMs) : world.chance.between(0.1, 4);
    world.after(lagMs, `${hub.name} hears of ${prefix}`, () => {
      isPlanned = false;
      if (hub.link.isCut) return;
      const changes = missed();
      if (changes.length > 0) life.run(() => tell(changes));
    });
  };

  const stops = [leader.onChange(plan), hub.link.onHeal(plan)];
  const told = new Promise<void>((resolve) => {
    world.after(0.1, `${hub.name} hears what is below ${prefix}`, () =>
      life.run(() => {
        tell(first);
        resolve();
        plan();
      }),
    );
  });
  const close = () => {
    isClosed = true;
    for (const stop of stops) stop();
  };
  return { watch: { close }, told };
}

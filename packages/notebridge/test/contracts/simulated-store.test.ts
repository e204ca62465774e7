import type { SharedStore } from '@notebridge/system/files/shared-store';
import { SimulatedHub } from '../simulation/simulated-hub.js';
import { SimulatedStore } from '../simulation/simulated-store.js';
import { calm, type Weather } from '../simulation/weather.js';
import { World } from '../simulation/world.js';
import { describeSharedStoreContract, type StoreUnderTest } from './shared-store-contract.js';

describeSharedStoreContract('the simulated store', async () => createUnderTest(calm));
describeSharedStoreContract('the simulated store, with reads that are old and watches that are late and doubled', async () =>
  createUnderTest({ ...calm, stale: 0.5, lagMs: 800, slow: 0.2, slowMs: 300, toldTwice: 0.5, lateEndMs: 1_000 }),
);

/** Its time passes by itself. */
function createUnderTest(weather: Weather): StoreUnderTest {
  const world = new World(1);
  world.weather = weather;
  const store = new SimulatedStore(world);
  const [first, second] = ['one', 'two'].map((name) => new SimulatedHub(world, name, { offsetMs: 0, rate: 1 }));
  if (!first || !second) throw new Error('There are two hubs.');
  const [one, two] = [first, second].map((hub) => store.clientFor(hub, hub.start())) as [SharedStore, SharedStore];
  world.runFreely();
  return {
    stores: [one, two],
    waitFor: async (check) => {
      const end = world.now + 30_000;
      for (;;) {
        try {
          return await check();
        } catch (error) {
          if (world.now > end) throw error;
        }
        await new Promise<void>((resolve) => world.after(50, 'a test waits', resolve));
      }
    },
    close: async () => {},
    disturb: {
      loseAnswers: () => {
        world.weather = { ...weather, lostAnswers: 1 };
        return () => {
          world.weather = weather;
        };
      },
      cut: () => {
        first.link.cut();
        return () => first.link.heal();
      },
    },
  };
}

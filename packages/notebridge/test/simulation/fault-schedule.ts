import fc from 'fast-check';
import { calm, type Weather } from './weather.js';

/** Something that befalls one hub (or, where it says so, all of them), and is over after a while. */
export interface Fault {
  kind: 'killed' | 'drained' | 'paused' | 'cut off' | 'all cut off' | 'clock set';
  hub: number;
  atMs: number;
  forMs: number;
}

/** All that differs between two runs. `seed` decides what is too small to be listed: each delay, each loss. */
export interface Schedule {
  seed: number;
  clocks: readonly { offsetMs: number; rate: number }[];
  weather: Weather;
  faults: readonly Fault[];
}

const perMille = (most: number) => fc.integer({ min: 0, max: most }).map((value) => value / 1_000);

const weathers: fc.Arbitrary<Weather> = fc.oneof(
  fc.constant(calm),
  fc.record({
    lost: perMille(100),
    doubled: perMille(100),
    slow: perMille(100),
    slowMs: fc.constantFrom(50, 1_000, 4_000, 12_000),
    lostAnswers: perMille(150),
    refused: perMille(150),
    lostRequests: perMille(50),
    stale: perMille(500),
    lagMs: fc.constantFrom(20, 500, 3_000),
    behind: perMille(300),
    toldTwice: perMille(200),
    lateEndMs: fc.constantFrom(0, 200, 1_500),
  }),
);

const faults: fc.Arbitrary<Fault> = fc.record({
  kind: fc.constantFrom(
    ...([
      'killed',
      'killed',
      'drained',
      'drained',
      'paused',
      'paused',
      'paused',
      'cut off',
      'cut off',
      'cut off',
      'all cut off',
      'clock set',
    ] as const),
  ),
  hub: fc.nat({ max: 3 }),
  atMs: fc.integer({ min: 0, max: 40_000 }),
  forMs: fc.oneof(
    { weight: 2, arbitrary: fc.integer({ min: 100, max: 6_000 }) },
    { weight: 3, arbitrary: fc.integer({ min: 6_000, max: 25_000 }) },
  ),
});

const clocks = fc.record({
  offsetMs: fc.integer({ min: -600_000, max: 600_000 }),
  rate: fc.integer({ min: -1_000, max: 1_000 }).map((parts) => 1 + parts / 1_000_000),
});

/** Schedules as fast-check makes and shrinks them: fewer faults, shorter ones, and better weather. */
export const schedules: fc.Arbitrary<Schedule> = fc.record({
  seed: fc.nat(),
  clocks: fc.array(clocks, { minLength: 2, maxLength: 4 }),
  weather: weathers,
  faults: fc.array(faults, { maxLength: 10 }),
});

import type { Runtime } from '@notebridge/protocol/util/runtime';
import { SimulatedLink } from './simulated-link.js';
import type { World } from './world.js';

/** How a machine's clocks go. */
export interface MachineClocks {
  /** Its wall clock is wrong by so much. */
  offsetMs: number;
  /** Seconds of its steady clock in a true second: 0.999 to 1.001. */
  rate: number;
}

/** One machine with one hub on it, which may be killed and started again. Each start is another life with other timers and handlers. */
export class SimulatedHub {
  readonly name: string;
  readonly link: SimulatedLink;
  readonly world: World;
  readonly #clocks: MachineClocks;
  #life: Life | undefined;

  constructor(world: World, name: string, clocks: MachineClocks) {
    this.world = world;
    this.name = name;
    this.#clocks = clocks;
    this.link = new SimulatedLink(world, name);
  }

  /** Undefined while it is killed. */
  get life(): Life | undefined {
    return this.#life;
  }

  /** Starts the process. What runs in it gets time and chance from `life.runtime`. */
  start(): Life {
    this.kill();
    this.#life = new Life(this.world, this.name, this.#clocks);
    return this.#life;
  }

  /** As kill -9: nothing of it runs any more. What it has sent is on its way. */
  kill(): void {
    this.#life?.end();
    this.#life = undefined;
  }

  /** The wall clock is set. */
  setClock(offsetMs: number): void {
    this.#clocks.offsetMs = offsetMs;
  }
}

/** One run of the program, from start to kill. */
export class Life {
  readonly name: string;
  readonly runtime: Runtime;
  readonly #world: World;
  #isAlive = true;
  #isPaused = false;
  #waiting: { isTimer: boolean; call: () => void }[] = [];

  constructor(world: World, name: string, clocks: MachineClocks) {
    this.#world = world;
    this.name = name;
    const bornAt = world.now;
    this.runtime = {
      steady: () => 1_000 + (world.now - bornAt) * clocks.rate,
      now: () => 1_790_000_000_000 + Math.floor(world.now) + clocks.offsetMs,
      after: (ms, call) => world.after(Math.max(1, ms) / clocks.rate, `${name} timer`, () => this.#run(call, true)),
      bytes: (count) => world.chance.bytes(count),
    };
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** Lets the process handle something: at once, when it wakes, or never if it was killed. */
  run(call: () => void): void {
    this.#run(call, false);
  }

  /** As SIGSTOP. Its steady clock goes on. */
  pause(): void {
    this.#isPaused = true;
  }

  /** As SIGCONT. Timers that are due and what has arrived meanwhile run now; which of them first, chance decides. */
  wake(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    const timersFirst = this.#world.chance.happens(0.5);
    const waiting = this.#waiting;
    this.#waiting = [];
    const inOrder = [
      ...waiting.filter(({ isTimer }) => isTimer === timersFirst),
      ...waiting.filter(({ isTimer }) => isTimer !== timersFirst),
    ];
    for (const { call, isTimer } of inOrder) this.#world.after(0, `${this.name} wakes to`, () => this.#run(call, isTimer));
  }

  end(): void {
    this.#isAlive = false;
    this.#waiting = [];
  }

  #run(call: () => void, isTimer: boolean): void {
    if (!this.#isAlive) return;
    if (this.#isPaused) this.#waiting.push({ call, isTimer });
    else call();
  }
}

import type { World } from './world.js';

/** The connection of one hub with NATS. A cut one is silent at first: it takes a while until either end knows. */
export class SimulatedLink {
  readonly name: string;
  readonly #world: World;
  readonly #listeners = new Set<(isConnected: boolean) => void>();
  readonly #healed = new Set<() => void>();
  #isCut = false;
  #isConnected = true;
  #cuts = 0;
  #held: (() => void)[] = [];

  constructor(world: World, name: string) {
    this.#world = world;
    this.name = name;
  }

  /** Whether anything passes. */
  get isCut(): boolean {
    return this.#isCut;
  }

  /** As the client of NATS knows it. */
  get isConnected(): boolean {
    return this.#isConnected;
  }

  onChange(listener: (isConnected: boolean) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Calls when things pass again, whether or not anybody has noticed that they did not. */
  onHeal(listener: () => void): () => void {
    this.#healed.add(listener);
    return () => this.#healed.delete(listener);
  }

  cut(): void {
    if (this.#isCut) return;
    this.#isCut = true;
    this.#cuts += 1;
    const cut = this.#cuts;
    this.#world.after(this.#world.chance.between(0, 4_000), `${this.name} notices its cut`, () => {
      if (!this.#isCut || this.#cuts !== cut) return;
      // What TCP would have sent again dies with the connection.
      this.#held = [];
      this.#tell(false);
    });
  }

  heal(): void {
    if (!this.#isCut) return;
    this.#isCut = false;
    const held = this.#held;
    this.#held = [];
    for (const call of held) this.carry('late', call);
    for (const listener of [...this.#healed]) listener();
    const cut = this.#cuts;
    this.#world.after(this.#isConnected ? 0 : this.#world.chance.between(0, 1_000), `${this.name} connects`, () => {
      if (!this.#isCut && this.#cuts === cut) this.#tell(true);
    });
  }

  /**
   * Takes something over the link, in either direction. What is on its way when the link is cut is lost; or it comes when the link is there
   * again, long after whoever sent it has given up, since TCP sends again.
   */
  carry(label: string, arrive: () => void): void {
    const { chance, weather } = this.#world;
    const ms = chance.happens(weather.slow) ? chance.between(0, weather.slowMs) : chance.between(0.1, 4);
    this.#world.after(ms, `${this.name} ${label}`, () => {
      if (!this.#isCut) arrive();
      else if (this.#isConnected && chance.happens(0.5)) this.#held.push(arrive);
    });
  }

  #tell(isConnected: boolean): void {
    if (this.#isConnected === isConnected) return;
    this.#isConnected = isConnected;
    for (const listener of [...this.#listeners]) listener(isConnected);
  }
}

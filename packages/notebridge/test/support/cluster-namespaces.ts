import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { ip, removeLeftovers, removeNamespace, whyNoNamespaces } from './namespaces.js';

/** A machine of the network: a namespace with one link to the switch. */
export interface Machine {
  readonly name: string;
  readonly address: string;
  /** What a command that is to run there begins with. */
  readonly launch: readonly string[];
}

/** Inside of the namespaces alone: it cannot meet an address of this machine. */
const addressOf = (index: number): string => `10.78.0.${index + 1}`;

/** Why there are none here; undefined if there can be. */
export const whyNoMachines = await whyNoNamespaces();

/**
 * Machines joined by a switch, each a network namespace: links are taken down and up, two machines lose sight of each other, and programs
 * are killed and paused. Nothing of it is seen from this machine, and all of it is gone at the end, with what runs in it.
 */
export class Machines implements AsyncDisposable {
  readonly #switch = `nb-switch-${process.pid}`;
  readonly #machines = new Map<string, Machine>();
  readonly #children = new Set<ChildProcess>();

  private constructor() {}

  /** `names`: letters and digits, 8 at most. One set of machines for each process. */
  static async open<Name extends string>(...names: Name[]): Promise<Machines> {
    if (whyNoMachines !== undefined) throw new Error(`There are no namespaces here: ${whyNoMachines}.`);
    await removeLeftovers();
    const opened = new Machines();
    try {
      await opened.#open(names);
      return opened;
    } catch (error) {
      await opened[Symbol.asyncDispose]();
      throw error;
    }
  }

  get(name: string): Machine {
    const machine = this.#machines.get(name);
    if (machine === undefined) throw new Error(`There is no machine "${name}".`);
    return machine;
  }

  /** Starts a program there. It is ended with the machines at the latest. */
  spawn(name: string, [command = '', ...args]: readonly string[], options: SpawnOptions = {}): ChildProcess {
    const [first = '', ...launch] = this.get(name).launch;
    // `ip netns exec` becomes the program: a signal to the child is one to the program itself.
    const child = spawn(first, [...launch, command, ...args], options);
    this.#children.add(child);
    child.once('close', () => this.#children.delete(child));
    return child;
  }

  /** Takes the link of a machine down: it sees nobody, and who talks to it hears nothing, not even that it is gone. */
  async cut(name: string): Promise<void> {
    await ip('-n', this.#switch, 'link', 'set', name, 'down');
  }

  /** Takes the link up again. */
  async join(name: string): Promise<void> {
    await ip('-n', this.#switch, 'link', 'set', name, 'up');
  }

  /** Has each machine of one side see none of the other side; both see all others. */
  async part(one: readonly string[], other: readonly string[]): Promise<void> {
    await this.#changeRoutes('replace', one, other);
  }

  /** Undoes `part` of the same sides. */
  async heal(one: readonly string[], other: readonly string[]): Promise<void> {
    await this.#changeRoutes('delete', one, other);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = [...this.#children].map((child) => once(child, 'close'));
    // Also what was paused ends by this.
    for (const child of this.#children) child.kill('SIGKILL');
    await Promise.all(closed);
    for (const name of this.#machines.keys()) await removeNamespace(namespaceOf(name));
    await removeNamespace(this.#switch);
  }

  async #open(names: readonly string[]): Promise<void> {
    await ip('netns', 'add', this.#switch);
    await ip('-n', this.#switch, 'link', 'add', 'bridge', 'type', 'bridge');
    await ip('-n', this.#switch, 'link', 'set', 'bridge', 'up');
    for (const [index, name] of names.entries()) {
      const namespace = namespaceOf(name);
      this.#machines.set(name, { name, address: addressOf(index), launch: ['ip', 'netns', 'exec', namespace] });
      await ip('netns', 'add', namespace);
      await ip('link', 'add', 'eth0', 'netns', namespace, 'type', 'veth', 'peer', 'name', name, 'netns', this.#switch);
      await ip('-n', this.#switch, 'link', 'set', name, 'master', 'bridge', 'up');
      await ip('-n', namespace, 'addr', 'add', `${addressOf(index)}/24`, 'dev', 'eth0');
      for (const device of ['lo', 'eth0']) await ip('-n', namespace, 'link', 'set', device, 'up');
    }
  }

  async #changeRoutes(change: 'replace' | 'delete', one: readonly string[], other: readonly string[]): Promise<void> {
    const pairs = one.flatMap((a) => other.flatMap((b) => [[a, b] as const, [b, a] as const]));
    for (const [at, unseen] of pairs) await ip('-n', namespaceOf(at), 'route', change, 'blackhole', `${this.get(unseen).address}/32`);
  }
}

const namespaceOf = (name: string): string => `nb-${name}-${process.pid}`;

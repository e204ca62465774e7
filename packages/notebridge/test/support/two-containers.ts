import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installTimeoutMs, Jupyter, prepareJupyter } from './jupyter.js';
import { openTwoSides, type TwoSides } from './namespaces.js';
import { Program } from './program.js';
import { installedServer, ServedHub, type ServedHubOptions } from './served-hub.js';
import { createTokenIssuer, issuerName, subjectName } from './token-issuer.js';
import { fixtureServer } from './upstreams.js';

/** The longest time that `TwoContainers.open` may take: Python's packages are installed first. */
export const openTimeoutMs = installTimeoutMs + 120_000;
/** What a server of the hub needs, and nobody else may have. */
export const serverKey = 'the-key-of-the-servers-0123456789';
/** The cluster of the two. */
export const issuer = createTokenIssuer();
const allow = ['filesystem:read_*', 'filesystem:list_*', 'everything:*', 'learns:*'];

/** Paths as code in the kernel sees them. */
interface KernelPaths {
  shared: string;
  grant: string;
  home: string;
}

/**
 * The deployment of `deploy/`, without a container engine: the hub with its servers on one side, Jupyter on the other, one wire and one
 * folder between them. Where namespaces can be had, Jupyter sees neither the hub's processes nor its home.
 */
export class TwoContainers implements AsyncDisposable {
  readonly sides: TwoSides;
  /** On the disk of the machine. */
  readonly folder: string;
  /** What `learns.mjs` has noted. */
  readonly notes: string;
  // `open` gives an instance to nobody before it has set these.
  hub!: ServedHub;
  jupyter!: Jupyter;
  paths!: KernelPaths;
  readonly #toClose: (() => unknown)[] = [];

  private constructor(sides: TwoSides, folder: string) {
    this.sides = sides;
    this.folder = folder;
    this.notes = join(folder, 'notes');
  }

  static async open(): Promise<TwoContainers> {
    await prepareJupyter();
    const folder = mkdtempSync(join(tmpdir(), 'notebridge-two-'));
    for (const name of ['shared', 'grant', 'home', 'files']) mkdirSync(join(folder, name));
    writeFileSync(join(folder, 'files', 'hello.txt'), 'Hello from the hub.');
    writeFileSync(join(folder, 'notes'), '');
    writeFileSync(join(folder, 'keys.json'), JSON.stringify(issuer.keySet));
    const opened = new TwoContainers(await openTwoSides(), folder);
    opened.#toClose.push(
      () => rmSync(folder, { recursive: true, force: true }),
      () => opened.sides[Symbol.asyncDispose](),
    );
    try {
      await opened.#open();
      return opened;
    } catch (error) {
      await opened[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Where code in the kernel finds the hub: by the name that compose.yaml and two-pods.yaml give it. */
  get url(): string {
    return this.sides.isolated ? `http://hub:${this.hub.port}` : this.hub.url;
  }

  /** Ends the hub, and starts it again on the same port, with the same state. `between` runs while there is none. */
  async restartHub(between: () => Promise<void> = async () => {}): Promise<void> {
    const { hub: before } = this;
    await before.stop();
    await between();
    this.hub = await ServedHub.start({ ...this.#hubOptions(), port: before.port }, before);
    this.#toClose.push(() => this.hub.stop());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const failures: unknown[] = [];
    for (const close of this.#toClose.splice(0).reverse()) {
      try {
        await close();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }

  async #open(): Promise<void> {
    const { hub, keeper } = await this.#openHub();
    this.hub = hub;
    await keeper.until(() => keeper.stderr.includes('is renewed there'));
    await hub.logged('Bindings written.');
    this.jupyter = await this.#openJupyter();
    this.#toClose.push(() => this.jupyter[Symbol.asyncDispose]());
  }

  /** As in the manifests: the hub, and beside it what keeps a grant for Jupyter. */
  async #openHub(): Promise<{ hub: ServedHub; keeper: Program }> {
    const hub = await ServedHub.start(this.#hubOptions());
    this.#toClose.push(() => hub[Symbol.asyncDispose]());
    const words = [
      'grant',
      '--keep',
      '--file',
      join(this.folder, 'grant', 'token'),
      '--ttl',
      '15m',
      ...allow.flatMap((one) => ['--allow', one]),
    ];
    const keeper = new Program({ args: words, env: hub.env, launch: this.sides.hub.launch });
    this.#toClose.push(async () => {
      keeper.child.kill('SIGTERM');
      await keeper.close();
    });
    return { hub, keeper };
  }

  #hubOptions(): ServedHubOptions {
    const { sides, folder } = this;
    const env = { API_KEY: serverKey };
    // Any address of the container, by one name: as compose.yaml has it.
    const place = sides.isolated ? ['--host', '0.0.0.0', '--allow-host', 'hub'] : [];
    return {
      launch: sides.hub.launch,
      args: [...place, '--notebook', 'none', '--shared-dir', join(folder, 'shared')],
      servers: {
        filesystem: installedServer('filesystem', [join(folder, 'files')], { env }),
        everything: installedServer('everything', [], { env }),
        learns: { command: process.execPath, args: [fixtureServer('learns.mjs'), this.notes], env },
      },
      notebridge: {
        exchange: [{ issuer: issuerName, subject: subjectName, keys: join(folder, 'keys.json'), allow: ['everything:echo'] }],
      },
    };
  }

  async #openJupyter(): Promise<Jupyter> {
    const { sides, folder, hub } = this;
    const { isolated, jupyter: side } = sides;
    const at = (name: string): string => join(isolated ? '/mnt' : folder, name);
    this.paths = { shared: isolated ? '/mnt/shared-agent' : at('shared'), grant: at('grant'), home: at('home') };
    const { shared, grant, home } = this.paths;
    writeFileSync(join(folder, 'hosts'), `127.0.0.1 localhost\n${sides.hub.address} hub\n`);
    const mounts = [
      'set -e',
      'mount -t tmpfs none /mnt',
      `mkdir ${shared} ${grant} ${home}`,
      `mount --bind '${join(folder, 'shared')}' ${shared}`,
      `mount --bind -o ro '${join(folder, 'grant')}' ${grant}`,
      `mount --bind '${join(folder, 'home')}' ${home}`,
      `mount --bind '${join(folder, 'hosts')}' /etc/hosts`,
      // What the other container has for itself.
      `mount -t tmpfs none '${hub.home}'`,
      `mount -t tmpfs none '${folder}'`,
      `cd ${home}`,
    ];
    return Jupyter.start({
      side,
      isolated,
      script: isolated ? mounts : [],
      env: { HOME: home, NOTEBRIDGE_URL: this.url, NOTEBRIDGE_TOKEN_FILE: join(grant, 'token'), PYTHONPATH: shared },
    });
  }
}

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { vi } from 'vitest';

/** What a broker says of itself in its file. */
export interface BrokerFile {
  kind: string;
  pid: number;
  address: string;
  secret: string;
  version: string;
  startedAt: number;
}

/** `stateHome`: `XDG_STATE_HOME` of the programs. */
export function brokerFileIn(stateHome: string): string {
  return join(stateHome, 'notebridge', 'broker.json');
}

function brokerIn(stateHome: string): BrokerFile | undefined {
  try {
    return JSON.parse(readFileSync(brokerFileIn(stateHome), 'utf8')) as BrokerFile;
  } catch {
    return undefined;
  }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Waits until the condition holds. What hangs is held after `timeoutMs`. */
export async function until(condition: () => boolean | Promise<boolean>, timeoutMs = 60_000): Promise<void> {
  await vi.waitUntil(condition, { timeout: timeoutMs, interval: 20 });
}

/** Waits until no broker of a state folder is there. It takes its file away before it saves, so processes are looked at (Linux). */
export async function untilBrokerEnded(stateHome: string): Promise<void> {
  if (process.platform === 'linux') return until(() => brokersIn(stateHome).length === 0);
  const { pid } = brokerIn(stateHome) ?? {};
  if (pid !== undefined && pid !== process.pid) await until(() => !isAlive(pid));
}

/** The process ids of the brokers of a state folder (Linux). */
export function brokersIn(stateHome: string): number[] {
  const wanted = `broker --state-dir ${join(stateHome, 'notebridge')} `;
  return livingProcesses().flatMap(({ pid, command }) => (command.includes(wanted) ? [pid] : []));
}

/** All processes but zombies (Linux). */
export function livingProcesses(): { pid: number; parent: number; command: string }[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ');
      return state === 'Z' ? [] : [{ pid: Number(name), parent: Number(parent), command }];
    } catch {
      return [];
    }
  });
}

/** A home that several programs share, and one broker with them: it is ended with the home. */
export class SharedHome implements AsyncDisposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'notebridge-home-'));
  readonly stateHome = join(this.folder, 'state');
  readonly stateDir = join(this.stateHome, 'notebridge');
  readonly env: Record<string, string>;

  /** `idle`: seconds after which what nobody needs is ended. */
  constructor(idle = 600) {
    this.env = {
      HOME: this.folder,
      XDG_STATE_HOME: this.stateHome,
      XDG_CONFIG_HOME: join(this.folder, 'config'),
      NOTEBRIDGE_BROKER_IDLE: String(idle),
    };
  }

  get broker(): BrokerFile | undefined {
    return brokerIn(this.stateHome);
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { pid } = this.broker ?? {};
    if (pid !== undefined && pid !== process.pid && isAlive(pid)) {
      process.kill(pid, 'SIGTERM');
      await until(() => !isAlive(pid));
    }
    await untilBrokerEnded(this.stateHome);
    rmSync(this.folder, { recursive: true, force: true });
  }
}

import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { planFaults } from './fault-plan.js';
import { type HappenedFault, judgeSoak, type SoakEvidence, type SoakVerdict } from './judge-soak.js';
import { pageOrigin, SoakSite, type SoakSiteOptions } from './soak-site.js';

export interface SoakOptions extends SoakSiteOptions {
  seconds: number;
  /** Where all calls are kept afterwards. Default: nowhere. */
  keepCalls?: string | undefined;
  /** Plans the faults. */
  seed: number;
}

export interface SoakReport extends SoakVerdict {
  seed: number;
  hubs: number;
  seconds: number;
  calls: number;
  executed: number;
  /** How many budgets there were. */
  grants: number;
  /** With the seconds after the load began. */
  faults: { kind: string; at: number; fromSeconds: number; forSeconds: number }[];
}

/** A caller waits so long for an answer: longer than a lease, and than a hub needs to find that another is gone. */
const limitMs = 45_000;
/** All must be answered again so long after the last fault. */
const backMs = 90_000;

/** Loads hubs for so long while faults happen, and holds what was seen against what is promised. */
export async function runSoak(options: SoakOptions): Promise<SoakReport> {
  const { seconds, seed, hubs } = options;
  const site = await SoakSite.open(options);
  let load: ChildProcess | undefined;
  try {
    const callsFile = join(site.folder, 'calls.json');
    const { urls, ownerToken, ledger } = site;
    load = site.startLoad({
      hubs: urls,
      ownerToken,
      ledger,
      callsFile,
      origin: pageOrigin,
      limitMs,
      backMs,
      servers: hubs > 1 ? ['ledger', 'near'] : ['ledger'],
      repeats: hubs > 1,
    });
    let said = '';
    load.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    const ended = once(load, 'close');
    const begun = load.stdout === null ? Promise.resolve() : once(load.stdout, 'data');
    await Promise.race([begun, ended]);
    const beganMs = Date.now();
    const faults: HappenedFault[] = [];
    for (const fault of planFaults({ seed, seconds, hubs, isSpread: hubs > 1 })) {
      await Promise.race([pause(Math.max(0, beganMs + fault.fromMs - Date.now())), ended]);
      faults.push(await site.perform(fault));
    }
    await Promise.race([pause(Math.max(0, beganMs + seconds * 1000 - Date.now())), ended]);
    load.stdin?.on('error', () => {});
    load.stdin?.write('end\n');
    const [code] = (await ended) as [number | null];
    if (code !== 0) throw new Error(`The load ended with ${code}: ${said}`);
    if (options.keepCalls !== undefined) copyFileSync(callsFile, options.keepCalls);
    const seen = JSON.parse(readFileSync(callsFile, 'utf8')) as Pick<SoakEvidence, 'calls' | 'budgets' | 'notBack'>;
    const executed = readFileSync(ledger, 'utf8').split('\n').filter(Boolean).map(Number);
    return {
      ...{ seed, hubs, seconds, calls: seen.calls.length, executed: executed.length, grants: Object.keys(seen.budgets).length },
      ...judgeSoak({ ...seen, executed, faults }),
      faults: faults.map(({ kind, at, startMs, endMs }) => ({
        kind,
        at,
        fromSeconds: (startMs - beganMs) / 1000,
        forSeconds: (endMs - startMs) / 1000,
      })),
    };
  } finally {
    if (load?.exitCode === null && load.signalCode === null) {
      // A fault could not be made: it would call on.
      const ended = once(load, 'close');
      load.kill('SIGKILL');
      await ended;
    }
    await site[Symbol.asyncDispose]();
  }
}

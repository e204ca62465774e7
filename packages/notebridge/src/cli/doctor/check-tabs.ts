import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { tryJson } from '@notebridge/protocol/util/try-json';
import { stateDir } from '@notebridge/system/processes/state-dir';
import type { Config } from '../../config/config.js';
import { type ConnectionState, describeConnection } from '../../notebooks/connection-state.js';
import { colabProfile } from '../../notebooks/profiles/colab.js';
import { type Check, note, ok } from './check.js';

/** What is older is over. Milliseconds. */
const recentMs = 60 * 60_000;
/** Of the end of the audit. */
const maxBytes = 256 * 1024;

const states: Readonly<Record<string, ConnectionState>> = {
  unknown: { kind: 'stale_token' },
  wrong_origin: { kind: 'wrong_origin' },
  other_user: { kind: 'other_user' },
};

/** Old tabs, and pages of other sites, which knock at a port of ours again and again: the audit has a line of each. */
export function checkTabs(config: Config | undefined): Check[] {
  const name = 'notebook pages';
  const { audit } = config ?? {};
  if (audit === false) return [];
  const path = audit?.file ?? join(stateDir(), 'audit.jsonl');
  const refused = linesAtEnd(path).filter(isRecentRefusal);
  const found = Object.entries(states).flatMap(([reason, state]) => {
    const lines = refused.filter((line) => line.reason === reason);
    const last = lines.at(-1)?.time;
    if (last === undefined) return [];
    const times = lines.reduce((sum, line) => sum + (Number(line.times) || 1), 0);
    const { text, steps } = describeConnection(state, {
      title: colabProfile.title,
      origin: colabProfile.origins.join(' or '),
      port: 0,
      url: '',
      code: undefined,
      sshLine: '',
    });
    return [note(name, `${text} ${times} times within the last hour, the last at ${String(last)}`, steps[0]?.text)];
  });
  return found.length === 0 ? [ok(name, 'no old tab, and none of another site or user, tried to connect within the last hour')] : found;
}

function isRecentRefusal({ outcome, door, time }: JsonObject): boolean {
  return outcome === 'refused' && door === 'page' && Date.parse(String(time)) > Date.now() - recentMs;
}

/** The last lines of a file, as far as they are JSON; none if it cannot be read. */
function linesAtEnd(path: string): JsonObject[] {
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    const { size } = fstatSync(file);
    const bytes = Buffer.alloc(Math.min(size, maxBytes));
    readSync(file, bytes, 0, bytes.length, size - bytes.length);
    return bytes.toString('utf8').split('\n').map(tryJson).filter(isJsonObject);
  } catch {
    return [];
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

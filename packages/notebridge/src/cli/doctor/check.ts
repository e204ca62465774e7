/** What one look has found. A `note` is no fault: something that cannot be had here, or is not set up. */
export interface Check {
  /** What was looked at: `config`, `server github`. */
  name: string;
  status: 'ok' | 'note' | 'fault';
  found: string;
  /** How to fix it. */
  next?: string;
  /** How long it took, where that is of interest. Milliseconds. */
  ms?: number;
}

export function ok(name: string, found: string, ms?: number): Check {
  return { name, status: 'ok', found, ...(ms === undefined ? {} : { ms: Math.round(ms) }) };
}

export function note(name: string, found: string, next?: string): Check {
  return { name, status: 'note', found, ...(next === undefined ? {} : { next }) };
}

export function failedCheck(name: string, found: string, next: string): Check {
  return { name, status: 'fault', found, next };
}

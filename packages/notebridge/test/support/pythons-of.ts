import { existsSync, readFileSync } from 'node:fs';
import type { ServedHub } from './served-hub.js';

/** The processes in which a hub has Pyodide, by their ids. */
export function pythonsOf({ child }: ServedHub): string[] {
  const children = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim().split(' ');
  return children.filter((pid) => existsSync(`/proc/${pid}/cmdline`) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('pyodide'));
}

import type { Kernel } from '../kernel/kernel.js';
import type { MimeBundle } from '../model/output.js';
import { HostError } from '../session/host-error.js';

const maxMatches = 2000;
/** Characters of one match. */
const maxMatch = 1000;
/** Characters of one kind of documentation. */
const maxDocumentation = 200_000;

/* What a person asks the kernel about code while it is written. What a kernel answers is bounded, and its own. */

export async function completionsOf(kernel: Kernel, code: string, position: number) {
  assertInside(code, position);
  const { matches, start, end } = await kernel.complete(code, position);
  const isInside = start >= 0 && start <= end && end <= code.length;
  const fit = matches.filter((match) => typeof match === 'string' && match.length <= maxMatch).slice(0, maxMatches);
  return isInside ? { matches: fit, start, end } : { matches: [], start: position, end: position };
}

export async function inspectionOf(kernel: Kernel, code: string, position: number, detail: 0 | 1): Promise<MimeBundle | null> {
  assertInside(code, position);
  const found = await kernel.inspect(code, position, detail);
  const texts = Object.entries(found ?? {}).filter(([type, value]) => isShown(type) && typeof value === 'string');
  return texts.length === 0 ? null : Object.fromEntries(texts.map(([type, value]) => [type, String(value).slice(0, maxDocumentation)]));
}

function isShown(type: string): boolean {
  return type === 'text/plain' || type === 'text/html' || type === 'text/markdown';
}

function assertInside(code: string, position: number): void {
  if (position <= code.length) return;
  throw new HostError('bad_request', `The window asked about place ${position} of a code of ${code.length} characters. Reload the window.`);
}

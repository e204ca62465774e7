import type { BesideImage } from '../../viewer/protocol.js';
import { outputHost } from './host-requests.js';

/** Images that are asked for at once; each may be some megabytes. */
const maxAsked = 2;
/** A text that is laid out anew while a person types shows the same images; a later one may find others. Milliseconds. */
const keptMs = 3000;
const maxKept = 20;

const kept = new Map<string, { readonly atMs: number; readonly address: Promise<string> }>();
const queue: (() => void)[] = [];
let asked = 0;

/** The path of an image beside the notebook; undefined for an address of anything else. */
export function pathBeside(address: string): string | undefined {
  const [path = ''] = address.split(/[?#]/, 1);
  if (path === '' || /^(?:[a-z][\w+.-]*:|[/\\])/i.test(path)) return undefined;
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** The `data:` address of an image beside the notebook, unchecked. Rejects with the host's reason. */
export function besideImage(path: string): Promise<string> {
  const known = kept.get(path);
  if (known && performance.now() - known.atMs < keptMs) return known.address;
  const address = ask(path);
  kept.delete(path);
  kept.set(path, { atMs: performance.now(), address });
  const [oldest] = kept.keys();
  if (kept.size > maxKept && oldest !== undefined) kept.delete(oldest);
  return address;
}

async function ask(path: string): Promise<string> {
  if (asked >= maxAsked) await new Promise<void>((resolve) => queue.push(resolve));
  asked++;
  try {
    const { type, data } = (await outputHost.request({ do: 'readImage', path })) as BesideImage;
    return `data:${type};base64,${data}`;
  } finally {
    asked--;
    queue.shift()?.();
  }
}

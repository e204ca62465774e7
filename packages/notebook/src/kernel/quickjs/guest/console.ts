import type { Send } from './send.js';
import { show } from './show.js';

/** `console` of the methods that agents use: what goes to stderr in Node does here. Returns what ends its groups. */
export function installConsole(send: Send): () => void {
  let margin = '';
  const counts: { [label: string]: number } = Object.create(null);
  const starts: { [label: string]: number } = Object.create(null);
  const print = (name: 'stdout' | 'stderr', values: readonly unknown[]): void => {
    const text = format(values);
    send('print', name, `${margin === '' ? text : margin + text.replaceAll('\n', `\n${margin}`)}\n`);
  };
  const out = (...values: unknown[]): void => print('stdout', values);
  const error = (...values: unknown[]): void => print('stderr', values);
  const group = (...values: unknown[]): void => {
    if (values.length > 0) out(...values);
    margin = `${margin}  `.slice(0, 40);
  };
  const groupEnd = (): void => {
    margin = margin.slice(2);
  };
  const took = (label: unknown = 'default'): void => {
    const start = starts[`${label}`];
    if (start !== undefined) out(`${label}: ${Date.now() - start} ms`);
  };
  const value = {
    ...{ log: out, info: out, debug: out, dir: (shown: unknown) => out(shown), table: (shown: unknown) => out(shown) },
    ...{ error, warn: error, trace: error },
    assert: (isTrue: unknown, ...values: unknown[]) => {
      if (!isTrue) error('Assertion failed', ...values);
    },
    ...{ group, groupCollapsed: group, groupEnd },
    count: (label: unknown = 'default') => {
      const next = (counts[`${label}`] ?? 0) + 1;
      counts[`${label}`] = next;
      out(`${label}: ${next}`);
    },
    countReset: (label: unknown = 'default') => void delete counts[`${label}`],
    time: (label: unknown = 'default') => {
      starts[`${label}`] = Date.now();
    },
    ...{ timeLog: took, timeEnd: took },
  };
  Object.defineProperty(globalThis, 'console', { value, writable: true, configurable: true });
  return () => {
    margin = '';
  };
}

/** Texts as they are, `%s` and its relatives filled in, all else as it is shown. */
function format(values: readonly unknown[]): string {
  const [first, ...rest] = values;
  if (typeof first !== 'string' || rest.length === 0 || !first.includes('%')) return values.map(toText).join(' ');
  let used = 0;
  const text = first.replaceAll(/%([sdifoOjc%])/g, (whole, kind: string) => {
    if (kind === '%') return '%';
    if (used >= rest.length) return whole;
    const value = rest[used++];
    if (kind === 'c') return '';
    if (kind === 'd' || kind === 'f') return String(Number(value));
    if (kind === 'i') return String(Math.trunc(Number(value)));
    return kind === 's' ? toText(value) : show(value);
  });
  return [text, ...rest.slice(used).map(toText)].join(' ');
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : show(value);
}

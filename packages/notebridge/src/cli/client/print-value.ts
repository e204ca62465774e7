import { ExactNumber } from '@notebridge/kit/json';

/** A value as JSON for people: indented, numbers exactly as they came. */
export function printPretty(value: unknown, indent = ''): string {
  if (value instanceof ExactNumber) return value.source;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const inner = `${indent}  `;
  const items = Array.isArray(value)
    ? value.map((item) => printPretty(item, inner))
    : Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${printPretty(item, inner)}`);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  if (items.length === 0) return `${open}${close}`;
  return `${open}\n${items.map((item) => `${inner}${item}`).join(',\n')}\n${indent}${close}`;
}

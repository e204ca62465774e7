// @module-tag P-493

import { expect, it } from 'vitest';
import { BoundedNames } from './bounded-names.js';

const of = (tool: string) => ({ method: 'tools/call', server: 'files', tool });
const other = { method: 'tools/call', server: 'other', tool: 'other' };

it('names a tool once it has answered, whatever becomes of it later', () => {
  const names = new BoundedNames();
  expect(names.bound(of('read'), 'denied')).toEqual(other);
  expect(names.bound(of('read'), 'unknown_tool')).toEqual(other);
  expect(names.bound(of('read'), 'ok')).toEqual(of('read'));
  expect(names.bound(of('read'), 'denied')).toEqual(of('read'));
});

it('names no more than it has places for, and keeps those that it has', () => {
  const names = new BoundedNames(100);
  const bound = Array.from({ length: 500 }, (_, index) => names.bound(of(`tool_${index}`), 'ok', 'ok').tool);
  expect(new Set(bound).size).toBeLessThanOrEqual(101);
  expect(bound.at(-1)).toBe('other');
  expect(names.bound(of('tool_0'), 'ok', 'ok').tool).toBe('tool_0');
  expect(names.bound({ method: 'resources/read', server: undefined, tool: undefined }, 'denied')).toEqual({ method: 'resources/read' });
});

// @module-tag P-370

import type { Caller } from '@notebridge/protocol/core/call-context';
import type { JsonObject } from '@notebridge/protocol/json';
import { describe, expect, it } from 'vitest';
import { createContext } from '../../test/support/create-context.js';
import { ListPages } from './list-pages.js';

const items = Array.from({ length: 2500 }, (_, at) => ({ name: `t${at}` }));
const method = 'tools/list';

function open() {
  let now = 0;
  const pages = new ListPages(() => now);
  const contextOf = (more: Partial<Caller> = {}) =>
    createContext(method, {}, { caller: { sessionId: 's', door: 'http', era: 'legacy', clientInfo: undefined, ...more } });
  const context = contextOf();
  const first = (listed: JsonObject = { tools: items, x: 1 }) => pages.first(method, 'tools', listed, context);
  return { pages, contextOf, context, first, pass: (ms: number) => (now += ms) };
}

describe('ListPages', () => {
  it('gives all items once, in order, whatever became of the list meanwhile', () => {
    const { pages, context, first } = open();
    const listed = { tools: [...items], x: 1 };
    let page: JsonObject | undefined = first(listed);
    expect(page).toMatchObject({ x: 1 });
    const seen: unknown[] = [];
    for (; page !== undefined; page = page.nextCursor === undefined ? undefined : pages.next(method, page.nextCursor, context))
      seen.push(...(page.tools as unknown[]));
    expect(seen).toEqual(items);
  });

  it('gives the same page for the same cursor', () => {
    const { pages, context, first } = open();
    const { nextCursor } = first();
    expect(pages.next(method, nextCursor, context)).toEqual(pages.next(method, nextCursor, context));
  });

  it('leaves a short list as it is, and one that has pages', () => {
    const { first } = open();
    const short = { tools: items.slice(0, 1000) };
    const paged = { tools: items, nextCursor: 'theirs' };
    expect(first(short)).toBe(short);
    expect(first(paged)).toBe(paged);
  });

  it('knows no cursor that is tampered with, of another list, another session or principal, or too old', () => {
    const { pages, context, contextOf, first, pass } = open();
    const { nextCursor } = first();
    expect(pages.next(method, `${nextCursor}0`, context)).toBeUndefined();
    expect(pages.next(method, { toString: () => nextCursor }, context)).toBeUndefined();
    expect(pages.next('prompts/list', nextCursor, context)).toBeUndefined();
    expect(pages.next(method, nextCursor, contextOf({ sessionId: 'other' }))).toBeUndefined();
    expect(pages.next(method, nextCursor, contextOf({ principal: { kind: 'grant', grantId: 'g' } }))).toBeUndefined();
    expect(pages.next(method, nextCursor, contextOf({ era: 'modern' }))).toBeUndefined();
    pass(600_000);
    expect(pages.next(method, nextCursor, context)).toBeDefined();
    pass(1);
    expect(pages.next(method, nextCursor, context)).toBeUndefined();
  });

  it('keeps the newest lists, and no more than 64', () => {
    const { pages, context, first } = open();
    const [oldest, ...others] = Array.from({ length: 65 }, () => first().nextCursor);
    expect(pages.next(method, oldest, context)).toBeUndefined();
    for (const cursor of others) expect(pages.next(method, cursor, context)).toBeDefined();
  });
});

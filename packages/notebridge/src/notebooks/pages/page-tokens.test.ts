import { describe, expect, it } from 'vitest';
import { PageTokens } from './page-tokens.js';

function createTokens(): { tokens: PageTokens; live: Set<string> } {
  const live = new Set<string>();
  return { tokens: new PageTokens(live), live };
}

/** A page that comes by `token` and keeps the one that it is offered. Gives that, or its own if there is none. */
function visit(tokens: PageTokens, token: string): string {
  expect(tokens.admits(token)).toBe(true);
  const offered = tokens.offer(token);
  if (offered !== undefined) tokens.accept(offered);
  return offered ?? token;
}

describe('PageTokens', () => {
  it('swaps the entry token, and then each resume token, for the next one', () => {
    const { tokens } = createTokens();
    const first = tokens.entry;
    const second = visit(tokens, first);
    expect(tokens.admits(first)).toBe(false);
    expect(tokens.entry).not.toBe(first);
    const third = visit(tokens, second);
    expect(tokens.admits(second)).toBe(false);
    expect([first, second, third, tokens.entry].map((token) => tokens.admits(token))).toEqual([false, false, true, true]);
  });

  it('lets a page back to the next process by either token, while it is not known which one it has', () => {
    const { tokens } = createTokens();
    const own = visit(tokens, tokens.entry);
    const offered = tokens.offer(own) ?? '';
    const next = new PageTokens(undefined, tokens.kept);
    expect([own, offered].map((token) => next.admits(token))).toEqual([true, true]);
  });

  it('makes room for a page that is opened anew: the one that was seen longest ago has to be opened again', () => {
    const { tokens, live } = createTokens();
    const [oldest, last] = [visit(tokens, tokens.entry), visit(tokens, tokens.entry)];
    const offered = tokens.offer(last) ?? '';
    expect(live.size).toBe(4);
    const resume = tokens.offer(tokens.entry) ?? '';
    expect([oldest, last, offered, tokens.entry, resume].map((token) => tokens.admits(token))).toEqual([false, true, true, true, true]);
    expect(live.size).toBe(4);
  });

  it('admits by both until it is known which one the page has', () => {
    const { tokens } = createTokens();
    const first = tokens.entry;
    const offered = tokens.offer(first) ?? '';
    expect([first, offered].map((token) => tokens.admits(token))).toEqual([true, true]);
    // It came by the first again: the offer stands.
    expect(tokens.offer(first)).toBe(offered);
    // It came by the second: it has it.
    const next = tokens.offer(offered) ?? '';
    expect([first, offered, next].map((token) => tokens.admits(token))).toEqual([false, true, true]);
    expect(tokens.entry).not.toBe(first);
  });

  it('takes an acceptance that is said twice, or too late, for what it is', () => {
    const { tokens } = createTokens();
    const offered = tokens.offer(tokens.entry) ?? '';
    tokens.accept(offered);
    const { entry } = tokens;
    tokens.accept(offered);
    tokens.accept('of nobody');
    expect(tokens.entry).toBe(entry);
    expect(tokens.admits(offered)).toBe(true);
  });

  it('lets a page come back after another was opened, and one more makes the one seen longest ago give way', () => {
    const { tokens } = createTokens();
    let a = visit(tokens, tokens.entry);
    const b = visit(tokens, tokens.entry);
    for (let times = 0; times < 5; times++) a = visit(tokens, a);
    expect(tokens.admits(b)).toBe(true);
    visit(tokens, tokens.entry);
    expect([a, b].map((token) => tokens.admits(token))).toEqual([true, false]);
  });

  it('no page ends the token of another by coming back, whatever was lost', () => {
    const { tokens } = createTokens();
    const a = visit(tokens, tokens.entry);
    const maybeA = tokens.offer(a) ?? '';
    let b = visit(tokens, tokens.entry);
    for (let times = 0; times < 5; times++) b = visit(tokens, b);
    expect([a, maybeA].map((token) => tokens.admits(token))).toEqual([true, true]);
  });

  it('keeps the entry token that a page came by that knows no other', () => {
    const { tokens, live } = createTokens();
    const { entry } = tokens;
    const offered = tokens.offer(entry) ?? '';
    tokens.keep(entry);
    expect(tokens.offer(entry)).toBeUndefined();
    // Who was offered a token before may have it, and goes on with it.
    const next = visit(tokens, offered);
    expect([entry, offered, next].map((token) => tokens.admits(token))).toEqual([true, false, true]);
    expect(tokens.entry).toBe(entry);
    expect(live).toEqual(new Set([entry, next]));
  });

  it('no more than four tokens are valid, and each is reported as long as it is', () => {
    const { tokens, live } = createTokens();
    const made = new Set([tokens.entry]);
    let valid = [tokens.entry];
    // A walk over all that can happen, the same at each run.
    let seed = 1;
    const draw = (count: number): number => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % count;
    };
    for (let step = 0; step < 1000; step++) {
      const offered = tokens.offer(valid[draw(valid.length)] ?? '');
      if (offered !== undefined && draw(3) > 0) tokens.accept(offered);
      const known = new Set([...valid, tokens.entry, ...(offered === undefined ? [] : [offered])]);
      valid = [...known].filter((token) => tokens.admits(token));
      for (const token of known) made.add(token);
      expect(new Set(valid)).toEqual(live);
      expect(valid.length).toBeLessThanOrEqual(4);
      expect(valid).toContain(tokens.entry);
    }
    expect([...made].filter((token) => tokens.admits(token)).length).toBe(live.size);
    expect(made.size).toBeGreaterThan(500);
  });

  it('admits no page when it is closed, and by nothing that it never gave', () => {
    const { tokens } = createTokens();
    const { entry } = tokens;
    const offered = tokens.offer(entry) ?? '';
    expect(['', entry.slice(1), `${entry}A`, offered.toUpperCase()].map((token) => tokens.admits(token))).toEqual([
      false,
      false,
      false,
      false,
    ]);
    tokens.close();
    expect([entry, offered].map((token) => tokens.admits(token))).toEqual([false, false]);
    expect(tokens.offer(entry)).toBeUndefined();
    expect(tokens.entry).toBe(entry);
  });
});

import { describe, expect, it } from 'vitest';
import { roughSizeOf } from './rough-size.js';
import { LongString, setUnread } from './unread-members.js';

describe('roughSizeOf', () => {
  it('is about the length of the JSON', () => {
    const value = { content: [{ type: 'text', text: 'x'.repeat(1000) }], isError: false };
    expect(roughSizeOf(value).bytes).toBeGreaterThan(1000);
    expect(roughSizeOf(value).bytes).toBeLessThan(1100);
    expect(roughSizeOf(value).isComplete).toBe(true);
    expect(roughSizeOf(Array.from({ length: 2000 }, () => 1)).isComplete).toBe(false);
  });

  it('measures a long string by its token, without decoding it', () => {
    const block = { type: 'text', text: 'x'.repeat(100_000) };
    const plain = roughSizeOf(block);
    // It would throw if it were decoded.
    setUnread(block, 'text', new LongString(Buffer.from(`"${'\\'.repeat(100_000)}"`)));
    expect(roughSizeOf(block)).toEqual(plain);
  });
});

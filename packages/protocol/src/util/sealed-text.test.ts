import { expect, it } from 'vitest';
import { createSteppedRuntime } from '../../../notebridge/test/support/stepped-runtime.js';
import { SealedTexts } from './sealed-text.js';

const runtime = createSteppedRuntime();
const seals = new SealedTexts(Buffer.alloc(32, 7), runtime);

it('a sealed text is read by holders of the key alone, under its name alone', { tags: ['P-553'] }, () => {
  const sealed = seals.seal('grant.1', 'may call 10 times');
  expect(seals.open('grant.1', sealed)).toBe('may call 10 times');
  expect(Buffer.from(sealed, 'base64url').includes('call')).toBe(false);
  expect(seals.open('grant.2', sealed)).toBeUndefined();
  expect(new SealedTexts(Buffer.alloc(32, 8), runtime).open('grant.1', sealed)).toBeUndefined();
  expect(seals.seal('grant.1', 'may call 10 times')).not.toBe(sealed);
});

it('a sealed text of which one bit was changed, or a part is missing, says nothing', { tags: ['P-553'] }, () => {
  const bytes = Buffer.from(seals.seal('grant.1', '{"calls":10}'), 'base64url');
  for (let at = 0; at < bytes.length; at++) {
    const changed = Buffer.from(bytes);
    changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
    expect(seals.open('grant.1', changed.toString('base64url')), `byte ${at}`).toBeUndefined();
    expect(seals.open('grant.1', bytes.subarray(0, at).toString('base64url')), `${at} bytes`).toBeUndefined();
  }
});

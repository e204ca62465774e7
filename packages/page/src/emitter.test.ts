import { expect, it } from 'vitest';
import { TypedEmitter } from './emitter.js';

it('Emitter delivers an event that a listener causes after the one it was told of, to everybody', () => {
  const emitter = new TypedEmitter<{ step: number }>();
  const seen: string[] = [];
  emitter.on('step', (step) => {
    seen.push(`a${step}`);
    if (step === 1) emitter.emit('step', 2);
  });
  const stop = emitter.on('step', (step) => seen.push(`b${step}`));
  emitter.emit('step', 1);
  stop();
  emitter.emit('step', 3);
  expect(seen).toEqual(['a1', 'b1', 'a2', 'b2', 'a3']);
});

import { describe, expect, it } from 'vitest';
import { ClaimsView } from './claims-view.js';

const entry = { hub: 'one', epoch: 1, about: {} };
const sizeOf = (view: ClaimsView): number => [...view.below('')].length;

describe('ClaimsView', () => {
  it('keeps nothing of what was removed, whether the store or the answer of the removal says so first', () => {
    const view = new ClaimsView();
    for (const isToldFirst of [true, false]) {
      view.note('page.p', entry, 5);
      const steps = [() => view.note('page.p', undefined, 6), () => view.noteRemoved('page.p', 5)];
      for (const step of isToldFirst ? steps : steps.toReversed()) step();
      expect(view.isEmpty).toBe(true);
      expect([view.get('page.p'), sizeOf(view), view.of('one').size]).toEqual([undefined, 0, 0]);
    }
  });

  it('is not brought back by older news while the store has not told of the removal', () => {
    const view = new ClaimsView();
    view.note('page.p', entry, 5);
    view.noteRemoved('page.p', 5);
    expect(view.note('page.p', entry, 5)).toBe(false);
    expect(view.get('page.p')).toBeUndefined();
    expect(view.note('page.p', { ...entry, hub: 'two' }, 7)).toBe(true);
    view.noteRemoved('page.p', 5);
    expect(view.get('page.p')?.entry.hub).toBe('two');
  });
});

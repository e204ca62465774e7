import { describe, expect, it } from 'vitest';
import { didYouMean } from './did-you-mean.js';

const hosts = ['claude-code', 'claude-desktop', 'cursor', 'vscode', 'gemini', 'codex'];

describe('didYouMean', () => {
  it.each([
    ['cursr', 'cursor'],
    ['crusor', 'cursor'],
    ['VS-Code', 'vscode'],
    ['claude_desktop', 'claude-desktop'],
    ['claude', 'claude-code'],
    ['gem', 'gemini'],
    ['codexx', 'codex'],
  ])('takes %s for %s', (word, meant) => {
    expect(didYouMean(word, hosts)).toBe(meant);
  });

  it.each(['', 'c', 'emacs', 'x'.repeat(100_000)])('finds nothing near %.20s', (word) => {
    expect(didYouMean(word, hosts)).toBeUndefined();
  });

  it('prefers the nearest candidate, not the first', () => {
    expect(didYouMean('server', ['serves', 'servers', 'server'])).toBe('server');
  });

  it('finds nothing among no candidates', () => {
    expect(didYouMean('anything', [])).toBeUndefined();
  });
});

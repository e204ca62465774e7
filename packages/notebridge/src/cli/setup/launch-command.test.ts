import { existsSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { describe, expect, it } from 'vitest';
import { launchCommand, toShellLine } from './hosts.js';

describe('launchCommand', () => {
  it('runs this very program, from any folder', () => {
    const { command, args } = launchCommand();
    expect(command).toBe('node');
    expect(args).toHaveLength(1);
    expect(isAbsolute(args[0] ?? '') && existsSync(args[0] ?? '')).toBe(true);
  });
});

describe('toShellLine', () => {
  it('quotes what a shell would read otherwise', () => {
    expect(toShellLine({ command: 'node', args: ['/a/b.js'] })).toBe('node /a/b.js');
    expect(toShellLine({ command: 'node', args: ["/a b/it's.js"] })).toBe("node '/a b/it'\\''s.js'");
  });
});

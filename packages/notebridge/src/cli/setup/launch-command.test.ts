import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { launchCommand, toShellLine } from './launch-command.js';

describe('launchCommand', () => {
  it.each(['/usr/lib/node_modules/notebridge', '/home/you/.npm/_npx/1a2b/node_modules/notebridge', 'C:\\work\\node_modules\\notebridge'])(
    'runs npx from %s',
    (folder) => {
      expect(launchCommand('linux', folder)).toEqual({ command: 'npx', args: ['-y', 'notebridge'] });
    },
  );

  it('puts a shell around npx on Windows', () => {
    expect(launchCommand('win32', 'C:\\work\\node_modules\\notebridge')).toEqual({
      command: 'cmd',
      args: ['/c', 'npx', '-y', 'notebridge'],
    });
  });

  it('runs the program of a checkout, which exists', () => {
    const { command, args } = launchCommand(process.platform);
    expect(command).toBe('node');
    expect(args).toHaveLength(1);
    expect(existsSync(args[0] ?? '')).toBe(true);
  });
});

describe('toShellLine', () => {
  it('quotes what a shell would read otherwise', () => {
    expect(toShellLine({ command: 'npx', args: ['-y', 'notebridge'] })).toBe('npx -y notebridge');
    expect(toShellLine({ command: 'node', args: ["/a b/it's.js"] })).toBe("node '/a b/it'\\''s.js'");
  });
});

import { describe, expect, it } from 'vitest';
import { startsNotebridge } from './starts-notebridge.js';

const starts = (line: string): boolean => {
  const [command = '', ...args] = line.split(' ');
  return startsNotebridge(command, args);
};

describe('startsNotebridge', () => {
  it.each([
    'notebridge replay bug.jsonl --link server:fs',
    'npx notebridge@1 replay bug.jsonl',
    'node packages/notebridge/bin/notebridge.js replay bug.jsonl',
    'sh -c notebridge replay bug.jsonl',
    'notebridge record bug.jsonl -- npx -y some-server',
  ])('lets a recording be a server, and one server be recorded: %s', { tags: ['deep'] }, (line) => {
    expect(starts(line)).toBe(false);
  });

  it.each([
    'notebridge record bug.jsonl',
    'notebridge record bug.jsonl --server fs',
    'notebridge record bug.jsonl -- notebridge stdio',
    'notebridge stdio replay',
  ])('refuses what starts a hub behind "record": %s', { tags: ['deep'] }, (line) => {
    expect(starts(line)).toBe(true);
  });

  it.each([
    'notebridge',
    'notebridge stdio',
    '/usr/local/bin/notebridge serve',
    'C:\\tools\\Notebridge.CMD stdio',
    'npx notebridge',
    'npx -y notebridge@1.2.3 stdio',
    'npx -y --package notebridge notebridge',
    'npx --package=notebridge -c notebridge',
    'npm exec -- notebridge',
    'pnpm dlx notebridge',
    'yarn notebridge',
    'bunx notebridge',
    'deno run -A npm:notebridge',
    'node /opt/notebridge/bin/notebridge.js',
    '/usr/bin/node --enable-source-maps /opt/notebridge/dist/cli/main.js stdio',
    'cmd /c npx -y notebridge',
    'env -i PATH=/bin npx notebridge',
  ])('refuses %s', { tags: ['P-024'] }, (line) => {
    expect(starts(line)).toBe(true);
  });

  it('looks into a shell command', { tags: ['P-024'] }, () => {
    expect(startsNotebridge('sh', ['-c', 'exec npx -y notebridge stdio'])).toBe(true);
    expect(startsNotebridge('bash', ['-lc', 'my-server notebridge'])).toBe(false);
  });

  it.each([
    'npx -y @modelcontextprotocol/server-filesystem notebridge',
    'npx -y @modelcontextprotocol/server-filesystem /home/me/notebridge',
    'npx -y notebridge-extras',
    'npx -y @someone/notebridge',
    'node server.js notebridge',
    'my-notebridge',
    'npx',
    'sh',
    'env',
  ])('lets %s pass', { tags: ['deep'] }, (line) => {
    expect(starts(line)).toBe(false);
  });
});

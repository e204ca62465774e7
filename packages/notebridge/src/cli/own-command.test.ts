import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, isAbsolute, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { asTyped, ownCommand, ownProgramFile } from './own-command.js';

it('what is printed to be typed is "notebridge" where PATH leads to this program, else its absolute path', { tags: ['P-237'] }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'notebridge-own-command-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const [ours, theirs, bin] = [join(folder, 'ours'), join(folder, 'theirs'), join(folder, 'node_modules', '.bin')] as const;
  for (const path of [ours, theirs, bin]) mkdirSync(path, { recursive: true });
  for (const path of [ours, bin]) symlinkSync(ownProgramFile(), join(path, 'notebridge'));
  writeFileSync(join(theirs, 'notebridge'), '');
  expect(isAbsolute(ownProgramFile())).toBe(true);
  const whole = `node ${ownProgramFile()}`;
  const commands = [[], [bin], [ours], [bin, ours], [theirs, ours]].map((path) => ownCommand({ PATH: path.join(delimiter) }));
  // Another program of that name comes first, or the shell that reads it has no such folder.
  expect(commands).toEqual([whole, whole, 'notebridge', 'notebridge', whole]);
  expect(asTyped('Run "notebridge serve", as notebridge/serve and notebridge do.', whole)).toBe(
    `Run "${whole} serve", as notebridge/serve and notebridge do.`,
  );
});

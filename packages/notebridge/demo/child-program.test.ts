// @module-tag deep

import { execPath } from 'node:process';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { ChildProgram } from './child-program.js';

const node = (script: string): ChildProgram => new ChildProgram(execPath, ['-e', script]);

describe('ChildProgram', () => {
  it('speaks on stdin and stdout, and ends when its stdin is closed', async () => {
    const child = node('process.stdin.pipe(process.stdout)');
    child.input.write('there and back');
    const [said, ending] = await Promise.all([text(child.output), child.close()]);
    expect({ said, ending }).toEqual({ said: 'there and back', ending: 'exit code 0' });
    expect(await child.close()).toBe('exit code 0');
  });

  it('reports how it ended, and its last words', async () => {
    const child = node('process.stderr.write("x".repeat(5000) + " no luck\\n"); process.exitCode = 3');
    expect(await child.ended).toBe('exit code 3');
    expect(child.lastWords).toMatch(/^x{4000,} no luck$/);
  });

  it('is killed if it does not end', async () => {
    const child = node('process.on("SIGTERM", () => {}); setInterval(() => {}, 1e6); process.stdout.write("up")');
    await new Promise((resolve) => child.output.once('data', resolve));
    expect(await child.close(10)).toBe('SIGKILL');
  });

  it('a program that cannot be started has ended, and says why', async () => {
    const child = new ChildProgram('/nonexistent/program', []);
    child.input.write('anybody?');
    expect(await child.close()).toContain('ENOENT');
  });
});

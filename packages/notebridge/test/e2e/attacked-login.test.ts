import { connect } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openLiar } from '../support/lying-server.js';
import { Program } from '../support/program.js';
import { ServedHub } from '../support/served-hub.js';

/** The command, with a person who opens what it prints. */
async function startLogin(origin: string, ...more: string[]) {
  const hub = await ServedHub.start({ servers: { remote: { url: `${origin}/mcp` } }, args: ['--notebook', 'none'] });
  onTestFinished(() => hub[Symbol.asyncDispose]());
  const lines: string[] = [];
  const args = ['login', 'remote', '--config', hub.configFile, ...more];
  const program = new Program({ args, env: hub.env, onLine: (line) => lines.push(line) });
  onTestFinished(() => program[Symbol.asyncDispose]());
  await program.until(() => lines.length > 0 || program.stderr.includes('notebridge: '));
  const opened = new URL(lines[0] ?? 'http://nothing.test');
  const callback = new URL(opened.searchParams.get('redirect_uri') ?? opened);
  callback.searchParams.set('state', opened.searchParams.get('state') ?? '');
  callback.searchParams.set('code', 'the-code-of-a-person');
  callback.searchParams.set('iss', origin);
  return { hub, program, callback };
}

/** Bytes as they are, on a connection of their own. Resolves with what came back until its end. */
function sendRaw(port: number, text: string): Promise<string> {
  return new Promise((resolve) => {
    let got = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    socket.on('data', (chunk) => {
      got += String(chunk);
    });
    socket.on('error', () => {}).on('close', () => resolve(got));
  });
}

describe('a login in a terminal', () => {
  it.each(['//', '///x', 'http://[', '//[', '/\\', '*', '/callback?%', 'http://:0/'])(
    'goes on when anybody asks its port for %j',
    async (target) => {
      const { origin } = await openLiar();
      const { program, callback } = await startLogin(origin);
      const answer = await sendRaw(Number(callback.port), `GET ${target} HTTP/1.1\r\nHost: x\r\n\r\n`);
      expect(answer).toMatch(/^HTTP\/1\.1 40[04]/);
      expect((await fetch(callback)).status).toBe(200);
      expect(await program.ended, program.stderr).toBe(0);
    },
  );
});

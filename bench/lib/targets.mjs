// What can stand between an agent and a page. A new one is one entry here: how to start it, and how to learn where its page dials.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sleep } from './stats.mjs';

/** The base of every ratio. */
export const relay = toRelay('relay', []);
/** The same, with a system call for each message. */
export const relayEach = toRelay('relay --each', ['--each']);

function toRelay(name, options) {
  return { name, args: [fileOf('../relay.mjs'), ...options], findPage: findPageOfRelay };
}

async function findPageOfRelay(child) {
  for (let tries = 0; tries < 500; tries++) {
    const [, port, token] = /page (\d+) (\S+)/.exec(child.complaints) ?? [];
    if (port !== undefined) return { port, token };
    await sleep(20);
  }
  throw new Error(`The relay did not say where its page dials: ${child.complaints}`);
}

/** Notebridge over stdio, as an agent host starts it. `program` may be another build, to compare two. */
export function notebridge(program = fileOf('../../packages/notebridge/bin/notebridge.js'), name = 'notebridge') {
  const file = resolve(program);
  if (!existsSync(file)) throw new Error(`There is no program "${file}".`);
  return {
    name,
    args: [file, 'stdio', '--no-browser'],
    async findPage(_child, agent) {
      await agent.initialize();
      const answer = await agent.request('tools/call', { name: 'open_colab_browser_connection', arguments: { wait_seconds: 0 } });
      const [, token, port] = /#mcpProxyToken=([\w-]+)&mcpProxyPort=(\d+)/.exec(JSON.stringify(answer)) ?? [];
      if (port === undefined) throw new Error(`The open tool named no address: ${JSON.stringify(answer).slice(0, 300)}`);
      return { port, token };
    },
  };
}

function fileOf(path) {
  return fileURLToPath(new URL(path, import.meta.url));
}

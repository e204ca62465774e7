import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';

const highest = 30_000;
const lowest = 20_000;
const had = new Set<number>();

/**
 * A port for what has to know it before it listens, or takes it again after it was killed: one that is free, and below those that the
 * system gives to whoever asks for any, so that nobody else has it meanwhile. None comes twice.
 */
export async function ownPort(): Promise<number> {
  const end = Math.min(highest, firstOfSystem());
  for (;;) {
    const port = lowest + Math.floor(Math.random() * (end - lowest));
    if (had.has(port) || !(await isFree(port))) continue;
    had.add(port);
    return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  await once(server.close(), 'close');
  return true;
}

/** The first port that the system gives away by itself. */
function firstOfSystem(): number {
  try {
    return Math.max(lowest + 1000, Number(readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').split(/\s+/)[0]));
  } catch {
    return highest;
  }
}

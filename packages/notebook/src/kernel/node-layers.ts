import type { Layer } from './layers.js';
import type { Hardened } from './messages.js';

/** What worker/ does inside of the process, with Node's flags of node-process.ts. */
export function runtimeLayer(hardened: Hardened | undefined): Layer {
  const name = 'runtime';
  if (!hardened) return { name, active: false, text: 'the JavaScript around Python is as the runtime made it' };
  return { name, active: true, text: `${hardened.objects} JavaScript objects frozen, no code from text, Node's permission flags` };
}

/** Whether this process, which a kernel's neighbour could send signals to, would open its debugger for one. */
export function neighboursLayer(): Layer {
  const name = 'neighbours';
  const isDeaf = process.listenerCount('SIGUSR1') > 0 || process.execArgv.includes('--disable-sigusr1') || process.platform === 'win32';
  if (isDeaf) return { name, active: true, text: 'no process of ours opens a debugger for a signal' };
  return {
    name,
    active: false,
    text: 'this process opens its debugger for SIGUSR1',
    fix: "Begin the program with: process.on('SIGUSR1', () => {})",
  };
}

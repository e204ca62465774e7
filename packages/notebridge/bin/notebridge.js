#!/usr/bin/env node
// Node opens its debugger for this signal, to whoever sends it. With a listener it does not; nothing else may come first.
process.on('SIGUSR1', () => {});

// A committed stub, so that the command is linked at install, before the first build.
import { existsSync } from 'node:fs';

const program = new URL('../dist/cli/main.js', import.meta.url);
if (!existsSync(program)) {
  process.stderr.write('notebridge: not built yet; run "npm run build" in the checkout first.\n');
  process.exit(1);
}
await import(program.href);

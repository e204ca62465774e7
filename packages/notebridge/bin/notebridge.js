#!/usr/bin/env node
// A committed stub, so that the command is linked at install, before the first build.
import { existsSync } from 'node:fs';

const program = new URL('../dist/cli/main.js', import.meta.url);
if (!existsSync(program)) {
  process.stderr.write('notebridge: not built yet; run "npm run build" in the checkout first.\n');
  process.exit(1);
}
await import(program.href);

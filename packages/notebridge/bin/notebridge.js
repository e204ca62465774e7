#!/usr/bin/env node
// Node opens its debugger for this signal, to whoever sends it. With a listener it does not; nothing else may come first.
process.on('SIGUSR1', () => {});

// A committed stub, so that the command is linked at install, before the first build.
import { existsSync } from 'node:fs';
import Module from 'node:module';

const program = new URL('../dist/cli/main.js', import.meta.url);
if (!existsSync(program)) {
  process.stderr.write('notebridge: not built yet; run "npm run build" in the checkout first.\n');
  process.exit(1);
}
// Optional parts of packages are looked for where these lead, which may be where code in a sandbox writes: none is taken from there.
const { HOME } = process.env;
delete process.env.NODE_PATH;
delete process.env.HOME;
Module._initPaths();
if (HOME !== undefined) process.env.HOME = HOME;
Object.assign(process.env, { WS_NO_BUFFER_UTIL: '1', WS_NO_UTF_8_VALIDATE: '1' });
await import(program.href);

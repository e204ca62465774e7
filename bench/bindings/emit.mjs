// Emits and writes a package once, in a process that has done nothing before, and prints how long that took.
//   node emit.mjs python|typescript TOOLS FOLDER
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { bindingsInput } from './tools.mjs';

const part = (path) => import(new URL(`../../packages/code-mode/dist/bindings/${path}.js`, import.meta.url).href);
const [language, count, folder] = process.argv.slice(2);
const input = bindingsInput(Number(count));
const { loadEmitter } = await part('languages');
const { writePackage } = await part('write-package');

const delays = monitorEventLoopDelay({ resolution: 1 });
delays.enable();
const startMs = performance.now();
const emit = await loadEmitter(language);
const generated = await emit(input);
const emitMs = performance.now() - startMs;
// A turn of the loop, so that the last stretch of work counts as well.
await new Promise(setImmediate);
const longestBlockMs = delays.max / 1e6;
const writeFromMs = performance.now();
const outcome = await writePackage(generated, { folder, isLive: false, pid: process.pid });
if (outcome !== 'written') throw new Error(`The package was ${outcome}.`);
const writeMs = performance.now() - writeFromMs;
const characters = [...generated.files.values()].reduce((total, text) => total + text.length, 0);
process.stdout.write(
  JSON.stringify({ emitMs, writeMs, bothMs: emitMs + writeMs, longestBlockMs, files: generated.files.size, characters }),
);

// A program with a kernel of Jupyter: node kernel-program.mjs PYTHON SOURCE runs the source, prints what it prints, and goes on until it is killed.
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const [python, source] = process.argv.slice(2);
const entry = fileURLToPath(new URL('../../../src/kernel/jupyter/jupyter-kernel.ts', import.meta.url));
const { outputFiles } = await build({ entryPoints: [entry], bundle: true, platform: 'node', format: 'esm', write: false });
const { createJupyterKernel } = await import(
  `data:text/javascript;base64,${Buffer.from(outputFiles[0]?.contents ?? []).toString('base64')}`
);
const programUrl = new URL('../../../src/kernel/jupyter/python/', import.meta.url);
const kernel = createJupyterKernel({ python, folder: tmpdir(), programUrl });
/** @param {{ text?: string }} output */
const onOutput = (output) => void process.stdout.write(output.text ?? JSON.stringify(output));
await kernel.execute(source, { onOutput });
setInterval(() => {}, 1000);

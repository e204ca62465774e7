// The process of a host: opens a sandbox as a kernel would, in the mode of the second argument, and tells what came of it.
const [, , module = '', mode] = process.argv;
const { openSandbox } = await import(module);
try {
  const { sandbox, layerOf } = await openSandbox(mode);
  process.stdout.write(`${JSON.stringify({ sandboxed: sandbox !== undefined, ...layerOf({}) })}\n`);
} catch (error) {
  const { code, message } = /** @type {NodeJS.ErrnoException} */ (error);
  process.stdout.write(`${JSON.stringify({ code, message })}\n`);
}

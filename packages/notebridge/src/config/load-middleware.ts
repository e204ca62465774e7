import { stat } from 'node:fs/promises';
import { extname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { BridgeError } from '@notebridge/protocol/core/errors';
import type { Middleware } from '@notebridge/protocol/core/middleware';
import { isJsonObject } from '@notebridge/protocol/json';
import { didYouMean } from '@notebridge/protocol/util/did-you-mean';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { adviceOnWritten, writtenBy } from '@notebridge/system/processes/written-rule';

/**
 * Imports the middleware modules of a config, in their order; relative paths start from `baseDir`. A module's default export is
 * a middleware, or a function (also async) that returns one.
 *
 * @throws BridgeError `bad_middleware`, naming the file and what was found there.
 */
export async function loadMiddlewareModules(paths: readonly string[], baseDir: string): Promise<Middleware[]> {
  const middlewares: Middleware[] = [];
  // One after the other: a module may rely on what an earlier one has set up.
  for (const path of paths) middlewares.push(await loadMiddleware(resolve(baseDir, path)));
  return middlewares;
}

/** Every hook of a middleware. A name that begins like one and is not here is a slip, and would never be called. */
const hookNames = Object.keys({
  onAdded: true,
  onMessage: true,
  onRequest: true,
  onNotification: true,
  onInitialize: true,
  onListTools: true,
  onCallTool: true,
  onListResources: true,
  onReadResource: true,
  onListPrompts: true,
  onGetPrompt: true,
} satisfies Record<Extract<keyof Middleware, `on${string}`>, true>);

async function loadMiddleware(file: string): Promise<Middleware> {
  await assertModuleFile(file);
  const exported = await importDefault(file);
  const made = typeof exported === 'function' ? await callFactory(file, exported as () => unknown) : exported;
  assertMiddleware(file, made);
  return made;
}

async function assertModuleFile(file: string): Promise<void> {
  const known = extname(file) === '.js' || extname(file) === '.mjs';
  if (!known) throw fault(file, 'is neither a .js nor a .mjs file', 'Compile it, or name the compiled module.');
  const found = await stat(file).catch(() => undefined);
  if (found === undefined) throw fault(file, 'does not exist', 'Paths start from the folder of the config file.');
  const written = writtenBy(file);
  if (written !== undefined) throw fault(file, `is not imported: code in a sandbox may write to "${written}"`, adviceOnWritten(written));
  if (!found.isFile()) throw fault(file, 'is not a file', 'Name the module itself.');
}

async function importDefault(file: string): Promise<unknown> {
  const module = await attempt(file, 'could not be loaded', () => import(pathToFileURL(file).href) as Promise<Record<string, unknown>>);
  if (module.default !== undefined) return module.default;
  const names = Object.keys(module).join(', ');
  throw fault(file, `has no default export, but exports ${names === '' ? 'nothing' : names}`, exportAdvice);
}

function callFactory(file: string, factory: () => unknown): Promise<unknown> {
  if (/^class\b/.test(Function.prototype.toString.call(factory))) {
    throw fault(file, 'exports a class', 'Export an instance of it, or a function that makes one, as default.');
  }
  return attempt(file, 'failed to make its middleware', async () => factory());
}

async function attempt<Value>(file: string, failed: string, action: () => Promise<Value>): Promise<Value> {
  try {
    return await action();
  } catch (error) {
    throw fault(file, `${failed}: ${firstLine(messageOf(error))}`, 'Fix the module, then start again.', error);
  }
}

function assertMiddleware(file: string, made: unknown): asserts made is Middleware {
  if (!isJsonObject(made)) throw fault(file, `gives ${describe(made)} as its middleware`, exportAdvice);
  const hooks = hookLikeNames(made);
  for (const name of hooks) assertHook(file, name, made[name]);
  if (hooks.length === 0) throw fault(file, 'gives an object without a hook', `Give it at least one of ${hookNames.join(', ')}.`);
}

function assertHook(file: string, name: string, value: unknown): void {
  if (!hookNames.includes(name)) {
    const meant = didYouMean(name, hookNames);
    const next = meant === undefined ? `Hooks are ${hookNames.join(', ')}.` : `Did you mean "${meant}"?`;
    throw fault(file, `has a hook "${name}", which does not exist`, next);
  }
  if (typeof value !== 'function') throw fault(file, `has a hook "${name}" that is ${describe(value)}`, 'Make it a function.');
}

/** Names that begin like a hook, also those of the class that an instance was made from. */
function hookLikeNames(made: object): string[] {
  const parent = Object.getPrototypeOf(made) as object | null;
  const inherited = parent === null || parent === Object.prototype ? [] : hookLikeNames(parent);
  const own = Object.getOwnPropertyNames(made).filter((name) => /^on[A-Z_]/.test(name));
  return [...new Set([...own, ...inherited])];
}

const exportAdvice = 'Export a middleware object, or a function that makes one, as default.';

function describe(value: unknown): string {
  if (value === undefined || value === null) return String(value);
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? '';
}

function fault(file: string, found: string, next: string, cause?: unknown): BridgeError {
  return new BridgeError('bad_middleware', `Middleware "${file}" ${found}. ${next}`, { data: { file, found }, cause });
}

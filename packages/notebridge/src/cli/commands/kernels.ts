import { existsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { FoundKernel, KernelOverview } from '@notebridge/notebook/host';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { appendAll } from '@notebridge/protocol/util/long-lists';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { quote } from '@notebridge/protocol/util/quote';
import { ownUserId } from '@notebridge/system/processes/own-user';
import { stateDir } from '@notebridge/system/processes/state-dir';
import { shellWord } from '@notebridge/system/starts/shell-word';
import { Help } from 'commander';
import { loadNotebook } from '../../assembly/load-notebook.js';
import { createTrustedFolders, type TrustedFolders } from '../../assembly/trusted-folders.js';
import { sharedOptions } from '../command-options.js';
import { defineCommand, type OptionsOf, option } from '../define-command.js';
import { paint, printJsonLine } from '../terminal.js';
import { withoutControls } from '../terminal-logger.js';

const options = [sharedOptions.json, option('--distrust', 'no longer run the Python of this folder without a question')];

/** `notebridge kernels`: what can run the code of the built-in notebook. */
export const kernelsCommand = defineCommand({
  arguments: [['[where]', 'a notebook, or the folder of notebooks (default: this folder)']],
  options,
  run: listKernels,
});

/** Prints the kernels for a notebook or a folder: what is usable, what `auto` would take, and why the rest is not usable. Runs no Python of that folder. */
async function listKernels(where: string | undefined, { json, distrust }: OptionsOf<typeof options>): Promise<void> {
  const path = resolve(where ?? '.');
  if (!existsSync(path)) throw new BridgeError('bad_usage', `There is no notebook or folder ${quote(path)}. Give one that is there.`);
  const trust = createTrustedFolders(stateDir(), { uid: ownUserId() });
  if (distrust === true) return removeTrust(path, trust);
  const { lookAtKernels } = await loadNotebook(stateDir());
  const overview = await lookAtKernels({ where: path, trust }).catch((error: unknown) => {
    throw new BridgeError('bad_notebook', `${quote(path)} cannot be read: ${messageOf(error)}`, { cause: error });
  });
  if (json === true) return printJsonLine(toJson(overview, trust));
  const { stdout } = process;
  stdout.write(toText(overview, trust, Math.max(40, (stdout.isTTY ? stdout.columns : 0) || 80)));
}

async function removeTrust(path: string, trust: TrustedFolders): Promise<void> {
  const folder = statSync(path).isDirectory() ? path : dirname(path);
  const was = trust.has(folder);
  await trust.remove(folder);
  process.stdout.write(was ? `${folder} is not trusted any more.\n` : `${folder} was not trusted.\n`);
}

function toJson({ folder, kernels, auto }: KernelOverview, trust: TrustedFolders) {
  return {
    folder,
    kernels: kernels.map(({ launch: _, trust: asked, ...kernel }) => ({
      ...kernel,
      usable: kernel.problem === undefined,
      ...(asked ? { asks: { folder: asked.folder, trusted: trust.has(asked.folder) } } : {}),
    })),
    auto: { id: auto.kernel.id, reason: auto.reason, proposal: auto.proposal?.id ?? null, notice: auto.notice ?? null },
  };
}

function toText({ folder, kernels, auto }: KernelOverview, trust: TrustedFolders, width: number): string {
  const usable = kernels.filter(({ problem }) => !problem);
  const others = kernels.filter(({ problem }) => problem);
  const lines = [
    paint.dim(`Kernels for the notebooks of ${withoutControls(folder)}`),
    ...usable.flatMap((kernel) => [
      '',
      ...toLines(kernel, { trust, width, mark: kernel.id === auto.kernel.id ? ` ← auto: ${auto.reason}` : '' }),
    ]),
    ...(others.length > 0 ? ['', paint.dim('Not usable:')] : []),
    ...others.flatMap((kernel) => ['', ...toLines(kernel, { trust, width, mark: '' })]),
  ];
  const { proposal, notice } = auto;
  if (proposal)
    appendAll(lines, ['', ...wrap(`"auto" would ask in the window: ${withoutControls(proposal.trust?.question ?? '')}`, width)]);
  if (notice !== undefined) appendAll(lines, ['', ...wrap(withoutControls(notice), width)]);
  return `${lines.join('\n')}\n`;
}

const sources: Readonly<Record<FoundKernel['source'], string>> = {
  'built in': 'comes with Notebridge',
  activated: 'the activated environment',
  kernelspec: 'a kernelspec of Jupyter',
  folder: "the folder's own",
  path: 'on PATH',
};

function toLines(
  { id, displayName, source, language, problem, trust: asked }: FoundKernel,
  { trust, width, mark }: { trust: TrustedFolders; width: number; mark: string },
): string[] {
  const asks = asked === undefined ? '' : trust.has(asked.folder) ? '; you trust this folder' : '; asks before it runs';
  const isOther = language !== 'python' && language !== '' ? `, ${language}` : '';
  const indent = '    ';
  const first = `  ${paint.bold(withoutControls(displayName))}${withoutControls(mark)}`;
  const detail = wrap(`${sources[source]}${withoutControls(isOther)}${problem ? '' : asks}`, width, indent);
  // Not wrapped: they are there to be copied.
  if (!problem) return [first, ...detail, `${indent}--kernel ${shellWord(withoutControls(id))}`];
  const fix = problem.fix === undefined ? [] : [`${indent}→ ${withoutControls(problem.fix)}`];
  const where = source === 'kernelspec' ? `${id}: ` : '';
  return [first, ...wrap(withoutControls(`${where}${problem.reason}`), width, indent), ...fix];
}

/** Lines of at most so many characters, broken between words. */
function wrap(text: string, width: number, indent = ''): string[] {
  const help = new Help();
  help.minWidthToWrap = 0;
  const wrapped = help.boxWrap(text.trim().replaceAll(/\s+/g, ' '), width - indent.length);
  return wrapped.split('\n').map((line) => indent + line);
}

import { BridgeError } from '@notebridge/protocol/core/errors';
import { quote } from '@notebridge/protocol/util/quote';
import type { FindNotebook } from '../../notebooks/selection/notebook-directory.js';
import { builtInKind } from './built-in/built-in-kind.js';
import { jupyterKind } from './jupyter/jupyter-kind.js';
import type { NotebookKind } from './notebook-kind.js';
import { pageKind } from './page/page-kind.js';

/** The kinds of notebook that there are, in the order in which they are asked whether a text names one of theirs. */
export const notebookKinds: readonly NotebookKind[] = [pageKind, jupyterKind, builtInKind];

/** The notebook that an agent names, of whichever kind. One that is open is that one, by whatever location it was named. */
export const findNotebook: FindNotebook = async (named, open) => {
  for (const kind of notebookKinds) {
    const reference = await kind.find(named);
    if (reference === undefined) continue;
    const locations = (await kind.locationsOf?.(reference, open, named.env)) ?? [];
    const entry = open.find(({ location }) => location !== null && locations.includes(location));
    return entry === undefined ? reference : { kind: 'open', id: entry.id };
  }
  throw new BridgeError('bad_notebook', `${quote(named.text)} names no notebook. Give ${argumentsOf(notebookKinds)}.`);
};

/** The values of `--notebook`, for texts: words first, the longest description last. */
export function argumentsOf(kinds: readonly NotebookKind[]): string {
  const all = kinds.flatMap((kind) => kind.arguments);
  const described = all.filter((text) => !text.startsWith('"')).reverse();
  return `${[...all.filter((text) => text.startsWith('"')), ...described.slice(0, -1)].join(', ')}, or ${described.at(-1)}`;
}

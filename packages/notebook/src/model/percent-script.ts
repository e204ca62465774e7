import type { Notebook } from './cell.js';

/** Words of IPython that no Python understands: they go along as comments, and come back as they were. */
const isMagic = (line: string) => /^\s*(?:[%!]|\?{1,2}\w|[\w.]+\?{1,2}\s*$)/.test(line);

/**
 * A notebook as a script in the percent format of Jupytext, VS Code and Spyder: each cell begins with a line `# %%`; text is in comments.
 * Outputs are left out.
 */
export function toPercentScript({ cells, metadata }: Pick<Notebook, 'cells' | 'metadata'>): { text: string; extension: string } {
  const parts = cells.map(({ type, source }) => {
    if (type !== 'code') return [`# %% [${type}]`, ...commented(source)].join('\n');
    const lines = source.split('\n');
    // The whole cell is in another language.
    const body = lines[0]?.startsWith('%%') ? commented(source) : lines.map((line) => (isMagic(line) ? `# ${line}` : line));
    return ['# %%', ...(source === '' ? [] : body)].join('\n');
  });
  return { text: parts.length === 0 ? '' : `${parts.join('\n\n')}\n`, extension: extensionOf(metadata) };
}

function commented(source: string): string[] {
  return source === '' ? [] : source.split('\n').map((line) => (line === '' ? '#' : `# ${line}`));
}

/** `.py`, unless the notebook names that of its language. */
function extensionOf(metadata: Notebook['metadata']): string {
  const info = metadata.language_info;
  const named = typeof info === 'object' && info !== null && 'file_extension' in info ? info.file_extension : undefined;
  return typeof named === 'string' && /^\.[A-Za-z][A-Za-z0-9]{0,7}$/.test(named) ? named : '.py';
}

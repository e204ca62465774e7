import { expect, it } from 'vitest';
import { toPercentScript } from './percent-script.js';

const cell = (type: 'code' | 'markdown' | 'raw', source: string) => ({
  id: 'x',
  type,
  source,
  metadata: {},
  outputs: [],
  executionCount: null,
});

it('toPercentScript writes each cell under a line of its own, and what is no Python as comments', () => {
  const cells = [
    cell('markdown', '# Title\n\nText'),
    cell('code', '%matplotlib inline\nx = 1\n!ls\nprint?\ny = x % 2'),
    cell('code', '%%bash\nls'),
    cell('code', ''),
    cell('raw', 'as it is'),
  ];
  const text = `# %% [markdown]
# # Title
#
# Text

# %%
# %matplotlib inline
x = 1
# !ls
# print?
y = x % 2

# %%
# %%bash
# ls

# %%

# %% [raw]
# as it is
`;
  expect(toPercentScript({ cells, metadata: {} })).toEqual({ text, extension: '.py' });
});

it('toPercentScript names the file as the language of the notebook does, if that is an extension', () => {
  const extension = (file_extension: unknown) =>
    toPercentScript({ cells: [], metadata: { language_info: { file_extension } } as never }).extension;
  expect(['.r', '../x', 7, '.py'].map(extension)).toEqual(['.r', '.py', '.py', '.py']);
});

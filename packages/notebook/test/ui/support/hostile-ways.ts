import type { NotebookHost } from '../../../src/host/notebook-host.js';
import type { Output } from '../../../src/model/output.js';
import { type Hostile, hostileContent } from './hostile-outputs.js';

const content = hostileContent();

/** How what is hostile comes into a notebook that is open: cell by cell. */
export interface LiveWay {
  readonly name: string;
  readonly add: (host: NotebookHost, each: Hostile, cellIndex: number) => Promise<void>;
}

export const liveWays: readonly LiveWay[] = [
  { name: 'cells that run', add: addAsPerson },
  { name: 'an agent', add: addAsAgent },
];

/**
 * What only a file brings in as it is: what comes in otherwise has whole characters in place of half ones, printed text as a terminal shows
 * it, and no error that is longer than any other output may be.
 */
export const changedWhenLive: readonly string[] = content
  .map(({ name }) => name)
  .filter((name) =>
    /lone surrogate|an error of 900,000 characters|coloured stream|escape sequences|100,000 codes|link in a terminal/.test(name),
  );

/** The scene of a kernel that puts out what code of a live way asks for. */
export function show(index: string): readonly Output[] {
  const each = content[Number(index)];
  return each ? outputsOf(each) : [];
}

/** The text of a notebook file whose cells are those that the live ways make. */
export function toHostileFile(vectors: readonly Hostile[]): string {
  const cells = vectors.map((each, index) => {
    const common = { id: `cell-${index}`, metadata: {} };
    if ('markdown' in each) return { ...common, cell_type: 'markdown', source: each.markdown };
    return { ...common, cell_type: 'code', source: codeOf(each), execution_count: 1, outputs: outputsOf(each) };
  });
  return JSON.stringify({ nbformat: 4, nbformat_minor: 5, metadata: {}, cells });
}

async function addAsPerson({ session }: NotebookHost, each: Hostile, cellIndex: number): Promise<void> {
  const by = { kind: 'person', name: 'You' } as const;
  const cell =
    'markdown' in each ? ({ type: 'markdown', source: each.markdown } as const) : ({ type: 'code', source: codeOf(each) } as const);
  const { id } = session.document.insert(cellIndex, cell, { by });
  if ('outputs' in each) await session.run(id, { by });
}

async function addAsAgent(host: NotebookHost, each: Hostile, cellIndex: number): Promise<void> {
  const [name, args] =
    'markdown' in each
      ? ['add_text_cell', { cellIndex, content: each.markdown }]
      : 'code' in each
        ? ['add_code_cell', { cellIndex, language: 'python', code: each.code }]
        : ['run_code', { code: codeOf(each) }];
  const result = await host.callTool(name as string, args, { agent: 'Claude' });
  if (result.isError) throw new Error(`${each.name}: ${JSON.stringify(result.content).slice(0, 500)}`);
}

function codeOf(each: Hostile): string {
  return 'code' in each ? each.code : `show ${content.findIndex(({ name }) => name === each.name)}`;
}

function outputsOf(each: Hostile): readonly Output[] {
  return 'outputs' in each ? each.outputs : [];
}

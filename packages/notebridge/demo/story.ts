import { readFile } from 'node:fs/promises';
import type { JsonObject } from '@notebridge/notebook';
import { countedText, drawing, introduction, maxBars, pictureSize, rightCount, toolCalls, wrongCount } from './cells.js';
import type { DemoAgent } from './demo-agent.js';
import { expectSame, expectThat } from './expect.js';
import { type DemoFilesystem, readFolder } from './filesystem.js';
import type { DemoPlace } from './place.js';
import { readPng } from './png.js';
import { askPython, checkSavedFile } from './saved-file.js';
import type { Step } from './steps.js';
import { compareTwoWays } from './two-ways.js';

export interface StoryOptions {
  agent: DemoAgent;
  /** Starts another agent, without a notebook. It is closed by who asks for it. */
  startAgent: (args: readonly string[]) => DemoAgent;
  place: DemoPlace;
  /** Undefined: no server of others is here that Python could call. */
  filesystem: DemoFilesystem | undefined;
  /** The version that has to answer. */
  version: string;
  showsWindow: boolean;
  /** False if the notebook was ended while a person looked at it: then the agent can read it no more. */
  canStillRead: () => boolean;
}

export interface Story {
  steps: Step[];
  /** The agent leaves. Before that, a person may look as long as they like. */
  lastStep: Step;
}

/** The main job from end to end, each step checked. */
export function tellStory({ agent, startAgent, place, filesystem, version, showsWindow, canStillRead }: StoryOptions): Story {
  let drawn = '';
  let counted = '';
  let revBeforeMending = 0;

  async function start(): Promise<string> {
    const { server, protocolVersion } = await agent.initialize();
    expectSame('an answer of', server, `notebridge ${version}`);
    const names = await agent.toolNames();
    const missing = ['add_text_cell', 'get_cells', 'run_code', 'undo_last_change'].filter((name) => !names.includes(name));
    expectSame('tools that are missing:', missing, []);
    return `Notebridge ${version} answers over MCP ${protocolVersion}, and has ${names.length} tools`;
  }

  async function openWindow(): Promise<string> {
    const { text } = await agent.succeed('open_notebook_window');
    const [, file = ''] = /in "([^"]+\.url)"/.exec(text) ?? [];
    expectThat(file !== '' && !text.includes('#'), 'where the address of the window stands, and no token', text);
    const address = await readFile(file, 'utf8');
    const page = await fetch(address.replace(/#.*/, ''), { signal: AbortSignal.timeout(10_000) });
    expectThat(page.ok && (await page.text()).includes('<!doctype html>'), 'the page of the window', `HTTP ${page.status}`);
    return `its page is there. ${text}`;
  }

  async function write(): Promise<string> {
    await agent.succeed('add_text_cell', { cellIndex: 0, content: introduction });
    const [cell] = (await readCells()).cells;
    expectSame('a cell with the text', sourceOf(cell), introduction);
    return 'read back, it is what was written';
  }

  async function draw(): Promise<string> {
    const { value, images } = await agent.succeed('run_code', { code: drawing });
    expectSame('Python to end with', value.status, 'ok');
    drawn = String(value.newCellId);
    const [image] = images;
    expectSame('an image block of the type', image?.mimeType, 'image/png');
    const { width, height, bytes } = readPng(image?.data ?? '');
    expectSame('a picture of', { width, height }, pictureSize);
    return `an image came back, a whole PNG of ${width} × ${height} pixels, ${bytes} bytes`;
  }

  async function fail(): Promise<string> {
    const { value } = await agent.succeed('run_code', { code: wrongCount });
    expectSame('Python to end with', value.status, 'error');
    const error = (value.outputs as JsonObject[]).at(-1);
    expectSame('the error', error?.ename, 'NameError');
    counted = String(value.newCellId);
    revBeforeMending = Number((await readCells()).cells.find(({ id }) => id === counted)?.rev);
    return `the error came back: ${error?.ename}: ${error?.evalue}`;
  }

  async function mend(): Promise<string> {
    await agent.succeed('update_cell', { cellId: counted, content: rightCount, expected_rev: revBeforeMending });
    const { value } = await agent.succeed('run_code_cell', { cellId: counted });
    const [output] = value.outputs as JsonObject[];
    expectSame('the output', toText((output?.data as JsonObject | undefined)?.['text/plain']), countedText);
    return `it runs now: ${countedText}`;
  }

  async function refuseStale(): Promise<string> {
    const before = await readCells();
    const refused = await agent.use('update_cell', { cellId: counted, content: 'points = 0', expected_rev: revBeforeMending });
    expectThat(refused.failed, 'a refusal', refused.text);
    const { code } = refused.value.error as JsonObject;
    expectSame('the refusal', code, 'stale_cell');
    expectSame('the notebook as it was:', await readCells(), before);
    return `refused (${code}), and nothing was changed`;
  }

  async function undo(): Promise<string> {
    const before = await readCells();
    await agent.succeed('delete_cell', { cellId: drawn });
    const without = await readCells();
    expectSame(
      'the cells but the deleted one:',
      idsOf(without),
      idsOf(before).filter((id) => id !== drawn),
    );
    await agent.succeed('undo_last_change');
    const after = await readCells();
    expectSame('the notebook as it was:', after, before);
    return 'the cell is back in its place, with the exact source and the picture';
  }

  async function callTools({ folder }: DemoFilesystem): Promise<string> {
    const { value } = await agent.succeed('run_code', { code: toolCalls(folder) });
    expectSame('Python to end with', value.status, 'ok');
    const data = (value.outputs as JsonObject[]).at(-1)?.data as JsonObject | undefined;
    const drawing = toText(data?.['image/svg+xml']);
    const bars = [...drawing.matchAll(/<text[^>]*>([^<]*)<\/text><rect[^>]*\/><text[^>]*>([^<]*)<\/text>/g)];
    const files = await readFolder(folder);
    const found = bars.map(([, path, bytes]) => ({ path, bytes: Number(bytes?.replaceAll(',', '')) }));
    const wrong = found.filter(({ path, bytes }) => files.find((file) => file.path === path)?.bytes !== bytes);
    expectSame('bars that the disk does not bear out:', wrong, []);
    expectSame(
      'the largest files, of bytes',
      found.map(({ bytes }) => bytes),
      files.slice(0, maxBars).map(({ bytes }) => bytes),
    );
    return `its filesystem server listed ${files.length} files for Python; the chart is right, each bar was compared with the disk`;
  }

  async function save(): Promise<string> {
    const seen = canStillRead() ? await readCells() : undefined;
    const ending = await agent.close();
    expectSame('Notebridge to end with', ending, 'exit code 0');
    expectSame('things on its stdout that are no messages:', agent.noise, []);
    const cells = seen?.cells.map((cell) => ({ id: String(cell.id), source: sourceOf(cell) }));
    const count = await checkSavedFile(place.notebook, seen && cells && { cells, images: seen.images });
    const python = await askPython(place.notebook, place.folder);
    const judges =
      python === undefined
        ? "by Notebridge's own check (Python's nbformat is not here to be asked)"
        : `by Notebridge's own check and by Python's nbformat ${python}`;
    return `${count} cells, valid nbformat 4.5 ${judges}`;
  }

  /** All cells as the agent sees them, and their images. */
  async function readCells(): Promise<{ cells: JsonObject[]; images: string[] }> {
    const { value, images } = await agent.succeed('get_cells', { includeOutputs: true }, { quietly: true });
    return { cells: value.cells as JsonObject[], images: images.map(({ data }) => data) };
  }

  const window: Step = { name: 'window', title: 'A window shows the notebook to you', play: openWindow };
  const steps: Step[] = [
    { name: 'start', title: `An agent host starts: notebridge stdio --notebook ${place.notebook}`, play: start },
    ...(showsWindow ? [window] : []),
    { name: 'write', title: 'The agent writes a text cell', play: write },
    { name: 'draw', title: 'It starts Python, and draws a picture', play: draw },
    { name: 'fail', title: 'It makes a mistake', play: fail },
    { name: 'mend', title: 'It fixes the cell, and runs it again', play: mend },
    { name: 'stale', title: 'It tries a change that rests on outdated knowledge', play: refuseStale },
    { name: 'undo', title: 'It deletes the picture, and takes that back', play: undo },
    ...(filesystem === undefined
      ? []
      : [
          { name: 'tools', title: 'Python calls an MCP server, and plots what it found', play: () => callTools(filesystem) },
          {
            name: 'code-mode',
            title: 'Two more agents, without a notebook: one calls tools directly, one has --code-mode',
            play: () => compareTwoWays({ startAgent, filesystem }),
          },
        ]),
  ];
  return { steps, lastStep: { name: 'save', title: 'It leaves, and its work is on the disk', play: save } };
}

function sourceOf(cell: JsonObject | undefined): string {
  return toText(cell?.source);
}

/** A text as nbformat has it: one string, or its lines. */
function toText(value: unknown): string {
  return Array.isArray(value) ? value.join('') : String(value);
}

function idsOf({ cells }: { cells: JsonObject[] }): unknown[] {
  return cells.map(({ id }) => id);
}

import type { Kernel } from '../kernel/kernel.js';
import { within } from '../kernel/within.js';
import type { NotebookDocument } from '../model/document.js';
import type { Output } from '../model/output.js';
import { chartIn } from '../outputs/scripted-summary.js';
import type { HostMessage } from '../viewer/protocol.js';

type DrawMessage = Extract<HostMessage, { type: 'draw' }>;

/** A window that can be asked. Resolves to false where there is none. */
export type AskWindow = (message: DrawMessage) => boolean | Promise<boolean>;

export interface ChartPicturesOptions {
  document: NotebookDocument;
  kernel: Kernel;
  /** The first that draws it is enough. */
  windows: readonly AskWindow[];
}

/** How long a window may take. Milliseconds. */
const drawMs = 15_000;

/** Pictures of charts for agents: a window draws them, or else the kernel, if it has the package for charts of Vega. */
export class ChartPictures {
  readonly #options: ChartPicturesOptions;
  readonly #waiting = new Map<number, (picture: string | undefined) => void>();
  readonly #known = new WeakMap<Output, Promise<string | undefined>>();
  #lastId = 0;

  constructor(options: ChartPicturesOptions) {
    this.#options = options;
  }

  /** A PNG, as base64. Undefined where nobody could draw it. */
  async draw(output: Output): Promise<string | undefined> {
    const known = this.#known.get(output);
    if (known !== undefined) return known;
    const drawing = this.#draw(output);
    this.#known.set(output, drawing);
    if ((await drawing) === undefined) this.#known.delete(output);
    return drawing;
  }

  /** What a window has drawn. */
  take(id: number, picture: string | null): void {
    this.#waiting.get(id)?.(/^data:image\/png;base64,(.+)$/.exec(picture ?? '')?.[1]);
  }

  async #draw(output: Output): Promise<string | undefined> {
    for (const ask of this.#options.windows) {
      const picture = await this.#ask(output, ask);
      if (picture !== undefined) return picture;
    }
    return drawInKernel(this.#options.kernel, output);
  }

  async #ask(output: Output, ask: AskWindow): Promise<string | undefined> {
    const cell = this.#options.document.cells.find(({ outputs }) => outputs.includes(output));
    if (!cell) return undefined;
    const id = ++this.#lastId;
    const drawing = new Promise<string | undefined>((resolve) => this.#waiting.set(id, resolve));
    const isAsked = await ask({ type: 'draw', id, cellId: cell.id, index: cell.outputs.indexOf(output) });
    const picture = isAsked ? await within(drawMs, drawing) : undefined;
    this.#waiting.delete(id);
    return picture;
  }
}

/** A PNG of a chart of Vega, as base64, where the kernel has the package for it. */
export async function drawInKernel(kernel: Kernel, output: Output): Promise<string | undefined> {
  const chart = 'data' in output ? chartIn(output.data as { [type: string]: unknown }) : undefined;
  if (!chart || chart.kind === 'plotly') return undefined;
  const draw = chart.kind === 'vega' ? 'vega_to_png' : 'vegalite_to_png';
  const spec = JSON.stringify(JSON.stringify(chart.spec));
  return kernel.evaluate?.(`__import__("base64").b64encode(__import__("vl_convert").${draw}(${spec})).decode()`);
}

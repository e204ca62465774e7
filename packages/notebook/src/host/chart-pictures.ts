import type { Output } from '../kernel/kernel.js';
import type { NotebookDocument } from '../model/document.js';
import type { HostMessage } from '../viewer/protocol.js';

type DrawMessage = Extract<HostMessage, { type: 'draw' }>;

/** How long a window may take. Milliseconds. */
const drawMs = 15_000;

/** Pictures of charts, which windows draw for agents. */
export class ChartPictures {
  readonly #document: NotebookDocument;
  readonly #send: (message: DrawMessage) => boolean;
  readonly #waiting = new Map<number, (picture: string | undefined) => void>();
  readonly #known = new WeakMap<Output, Promise<string | undefined>>();
  #lastId = 0;

  /** `send` gives the message to one window; false if none is open. */
  constructor(document: NotebookDocument, send: (message: DrawMessage) => boolean) {
    this.#document = document;
    this.#send = send;
  }

  /** A PNG, as base64. Undefined where nobody could draw it. */
  async draw(output: Output): Promise<string | undefined> {
    const known = this.#known.get(output);
    if (known !== undefined) return known;
    const drawing = this.#ask(output);
    this.#known.set(output, drawing);
    if ((await drawing) === undefined) this.#known.delete(output);
    return drawing;
  }

  /** What a window has drawn. */
  take(id: number, picture: string | null): void {
    this.#waiting.get(id)?.(/^data:image\/png;base64,(.+)$/.exec(picture ?? '')?.[1]);
  }

  async #ask(output: Output): Promise<string | undefined> {
    const cell = this.#document.cells.find(({ outputs }) => outputs.includes(output));
    if (!cell) return undefined;
    const id = ++this.#lastId;
    return new Promise((resolve) => {
      const end = (picture: string | undefined) => {
        clearTimeout(timer);
        this.#waiting.delete(id);
        resolve(picture);
      };
      const timer = setTimeout(() => end(undefined), drawMs).unref();
      this.#waiting.set(id, end);
      if (!this.#send({ type: 'draw', id, cellId: cell.id, index: cell.outputs.indexOf(output) })) end(undefined);
    });
  }
}

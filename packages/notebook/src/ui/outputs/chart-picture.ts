import type { Output } from '../../model/output.js';
import { el } from '../dom.js';
import { outputHost } from './host-requests.js';
import { type PageContent, pageContentOf, pageFrame } from './page-frame.js';

/** How long a page may take to draw what becomes a picture. Milliseconds. */
const drawMs = 12_000;

/** Draws the output that the host asks for, and answers with the picture; with none where that does not work. */
export async function answerDraw({ id, cellId, index }: { id: number; cellId: string; index: number }): Promise<void> {
  // A browser does not draw what nobody sees.
  const output = document.hidden ? undefined : outputHost.cells().find((cell) => cell.id === cellId)?.outputs[index];
  const picture = (output && (await pictureOf(output)?.catch(() => undefined))) ?? null;
  await outputHost.request({ do: 'drawn', id, picture }).catch(() => {});
}

let last: Promise<unknown> = Promise.resolve();

/** The `data:` address of a PNG; undefined for what shows no page of its own. Rejects where nothing comes of it. */
export function pictureOf(output: Output): Promise<string> | undefined {
  const content = pageContentOf(output);
  if (!content) return undefined;
  content.catch(() => {});
  // One after the other: each takes a page of its own, and all of a processor.
  const drawing = last.then(async () => drawApart(await content));
  last = drawing.catch(() => {});
  return drawing;
}

/** In a page that is in sight, as browsers see it, since others do not draw; nobody sees it. */
async function drawApart(content: PageContent): Promise<string> {
  const place = el('div', { class: 'picture-maker', 'aria-hidden': 'true', inert: true });
  document.body.append(place);
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const timer = setTimeout(() => reject(new Error('it was not drawn in time')), drawMs);
  const take = (address: string) =>
    /^data:image\/png;base64,[\w+/=]+$/.test(address) ? resolve(address) : reject(new Error('no picture came of it'));
  pageFrame(content, take).then((frame) => place.append(frame), reject);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    place.remove();
  }
}

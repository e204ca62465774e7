/** How long something may take to appear. Milliseconds. */
const appearMs = 8000;
const lookMs = 50;

interface Drawers {
  Plotly?: { toImage(place: Element, options: object): Promise<string> };
  Bokeh?: {
    documents: readonly { readonly is_idle?: boolean }[];
    index: { readonly roots?: Iterable<BokehView> } & { readonly [id: string]: unknown };
  };
}

interface BokehView {
  export(type: 'png', hidpi: boolean): { readonly canvas: HTMLCanvasElement };
}

/** What the page shows, as a PNG on white. Rejects if nothing appears. */
export async function takePicture(): Promise<string> {
  const end = Date.now() + appearMs;
  for (;;) {
    const picture = await drawn();
    if (picture !== undefined) return picture;
    if (Date.now() > end) throw new Error('nothing appeared');
    await new Promise((resolve) => setTimeout(resolve, lookMs));
  }
}

/** Undefined while nothing is there. */
async function drawn(): Promise<string | undefined> {
  const { Plotly, Bokeh } = globalThis as Drawers;
  const figure = document.querySelector('.js-plotly-plot');
  if (figure?.querySelector('.main-svg') && Plotly) return Plotly.toImage(figure, { format: 'png' });
  const views = bokehViews(Bokeh);
  const [view] = views;
  if (view) return Bokeh?.documents.every(({ is_idle }) => is_idle !== false) ? onWhite(exported(view)) : undefined;
  const map = document.querySelector<HTMLElement>('.leaflet-container');
  if (map) return pictureOfElement(map);
  const canvas = [...document.querySelectorAll('canvas')].sort((a, b) => b.width * b.height - a.width * a.height)[0];
  if (canvas && canvas.width > 0) {
    // What moves into place has done so after some frames.
    await new Promise((resolve) => setTimeout(resolve, canvas.closest('.vega-embed') ? 0 : 1000));
    return onWhite(canvas);
  }
  const drawing = document.querySelector('.vega-embed svg.marks');
  return drawing ? pictureOfElement(drawing) : undefined;
}

function bokehViews(bokeh: Drawers['Bokeh']): BokehView[] {
  if (!bokeh) return [];
  const views = bokeh.index.roots ? [...bokeh.index.roots] : Object.values(bokeh.index);
  return views.filter((view): view is BokehView => typeof (view as Partial<BokehView> | null)?.export === 'function');
}

/** Tables and buttons of Bokeh are elements, of which it makes no picture. */
function exported(view: BokehView): HTMLCanvasElement {
  const { canvas } = view.export('png', false);
  if (isBlank(canvas)) throw new Error('nothing of it is a drawing');
  return canvas;
}

function isBlank(canvas: HTMLCanvasElement): boolean {
  if (canvas.width === 0 || canvas.height === 0) return true;
  const { data } = canvas.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height) ?? { data: new Uint8ClampedArray() };
  const pixels = new Uint32Array(data.buffer);
  return pixels.every((pixel) => pixel === pixels[0]);
}

function onWhite(image: HTMLCanvasElement | HTMLImageElement): string {
  const canvas = document.createElement('canvas');
  canvas.width = image.width;
  canvas.height = image.height;
  const context = canvas.getContext('2d');
  if (!context) throw new Error('there is no canvas');
  context.fillStyle = '#fff';
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(image, 0, 0);
  return canvas.toDataURL('image/png');
}

/** A copy in which what is drawn on a canvas is an image: its markup would be empty. */
function withStills(element: Element): Element {
  const copy = element.cloneNode(true) as Element;
  const drawn = element.querySelectorAll('canvas');
  for (const [at, canvas] of copy.querySelectorAll('canvas').entries()) {
    const still = document.createElement('img');
    for (const { name, value } of canvas.attributes) still.setAttribute(name, value);
    still.src = drawn[at]?.toDataURL() ?? '';
    canvas.replaceWith(still);
  }
  return copy;
}

/** As markup within a drawing, with the page's styles: images in it are `data:` addresses already. */
async function pictureOfElement(element: Element): Promise<string> {
  const { width, height } = element.getBoundingClientRect();
  const styles = [...document.querySelectorAll('style')].map(({ textContent }) => textContent).join('\n');
  const style = document.createElement('style');
  style.textContent = styles;
  const markup = [style, withStills(element)].map((each) => new XMLSerializer().serializeToString(each)).join('');
  const drawing = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><foreignObject width="100%" height="100%"><div xmlns="http://www.w3.org/1999/xhtml" style="width:${width}px;height:${height}px">${markup}</div></foreignObject></svg>`;
  const image = new Image(width, height);
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(drawing)}`;
  await image.decode();
  return onWhite(image);
}

/** What is found at one cell; these functions run in the page. */
export interface Look {
  /** Something of the cell can be seen: its source, or what it says instead of it. */
  isThere: boolean;
  /** What lies over its source or over the bar, if anything does. */
  covered: string;
  /** The key that led here was heard. */
  hasFocus: boolean;
  /** When the look began, and how long it took until the cell was drawn. Milliseconds. */
  at: number;
  ms: number;
}

declare global {
  var longTasks: { at: number; ms: number }[];
}

/** Before anything of the page runs. */
export function startWatching(): void {
  globalThis.longTasks = [];
  new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) globalThis.longTasks.push({ at: startTime, ms: Math.round(duration) });
  }).observe({ type: 'longtask', buffered: true });
}

export function tasksOf(): { at: number; ms: number }[] {
  return globalThis.longTasks;
}

/** True when nothing waits for the thread that lays out Markdown. */
export function areTextsThere(): boolean {
  return [...document.querySelectorAll('.prose:not([hidden])')].every((prose) => prose.querySelector('.prose-body'));
}

/** Gives a cell two frames, and looks at it as a person does: at what is on top, point by point. */
export async function lookAt({ index, mayScroll }: { index: number; mayScroll: boolean }): Promise<Look> {
  const startedAt = performance.now();
  // A browser that draws nothing any more is a fault with a place, not a test that hangs.
  const frame = () =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error(`No frame was drawn within 30 s at cell ${index}; the page is ${document.visibilityState}.`)),
        30_000,
      );
      requestAnimationFrame((at) => {
        clearTimeout(timer);
        resolve(at);
      });
    });
  const cells = document.querySelectorAll<HTMLElement>('.cell');
  const cell = cells[index];
  if (!cell) return { isThere: false, covered: '', hasFocus: false, at: startedAt, ms: 0 };
  if (mayScroll) cell.scrollIntoView({ block: 'start' });
  for (let frames = 0; frames < 2; frames++) await frame();
  const ms = performance.now() - startedAt;
  const describe = (element: Element | null) =>
    `${element?.tagName} ${element?.className} in ${element?.closest('.cell')?.getAttribute('aria-label')}`;
  const shown = [...cell.querySelectorAll<HTMLElement>('.source, .prose, .output')].filter(({ offsetHeight }) => offsetHeight > 0);
  const covered: string[] = [];
  const check = (box: DOMRect, isOwn: (element: Element) => boolean) => {
    const [left, right] = [Math.max(0, box.left), Math.min(innerWidth, box.right)];
    const [top, bottom] = [Math.max(0, box.top), Math.min(innerHeight, box.bottom)];
    for (const x of [0.02, 0.5, 0.98])
      for (const y of [0.1, 0.5, 0.9]) {
        const element = document.elementFromPoint(left + x * (right - left), top + y * (bottom - top));
        if (element && bottom - top > 2 && !isOwn(element)) covered.push(describe(element));
      }
  };
  const frames = '.top, .hint, .cell-tools, .gap, .drawer';
  const source = cell.querySelector<HTMLElement>('.source:not([hidden])');
  if (source) check(source.getBoundingClientRect(), (element) => source.contains(element) || element.closest(frames) !== null);
  const bar = document.querySelector('.top');
  if (bar) check(bar.getBoundingClientRect(), (element) => bar.contains(element));
  return {
    isThere: shown.length > 0 && cell.offsetHeight > 0,
    covered: covered[0] ?? '',
    hasFocus: cell.classList.contains('selected'),
    at: startedAt,
    ms,
  };
}

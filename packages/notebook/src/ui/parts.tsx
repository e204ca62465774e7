import type { ComponentChild } from 'preact';
import { render } from 'preact';
import { type IconName, iconPaths } from './icons.js';
import type { Store, StoreEvent } from './state/store.js';
import { visibleNodes } from './visible.js';

/** The same line drawing that `icon` makes. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" class={`icon icon-${name}`}>
      <path d={iconPaths[name]} />
    </svg>
  );
}

/** A text of somebody else's, in which what cannot be seen stands in boxes. */
export function Visible({ text }: { text: string }) {
  return <span ref={(place) => place?.replaceChildren(...visibleNodes(text))} />;
}

/**
 * Draws into a place now and after each of these events, as long as it is shown. Keys and scrolling stay where they are: only what differs
 * is changed. Returns the function that draws at once.
 */
export function drawPanel(
  place: HTMLElement,
  { store, types }: { store: Store; types: readonly StoreEvent['type'][] },
  view: () => ComponentChild,
): () => void {
  const draw = () => render(view(), place);
  let isAsked = false;
  store.on(({ type }) => {
    if (!types.includes(type) || isAsked || place.closest('[hidden]')) return;
    isAsked = true;
    requestAnimationFrame(() => {
      isAsked = false;
      draw();
    });
  });
  return draw;
}

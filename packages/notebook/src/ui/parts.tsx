import { type IconName, iconPaths } from './icons.js';
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

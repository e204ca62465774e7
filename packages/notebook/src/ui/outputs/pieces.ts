import { button } from '../dom.js';
import { cannotShow } from './cannot-show.js';

/** A part of an output that can be drawn at once, and how to come to the next one. */
export interface Piece {
  readonly element: Node;
  /** Of the whole, from 0 to 1, with this piece. */
  readonly progress: number;
  readonly next?: (() => Piece | Promise<Piece>) | undefined;
}

/** Draws the first piece; each further one when a person asks for it, so that no output takes the page away from them. */
export function showPieces(holder: HTMLElement, { element, progress, next }: Piece): void {
  holder.append(element);
  if (!next) return;
  const asking = button(
    { class: 'quiet show-more', onclick: () => void more() },
    `Show more (${Math.min(99, Math.max(1, Math.floor(progress * 100)))} % of it is shown)`,
  );
  const more = async () => {
    asking.disabled = true;
    try {
      const piece = await next();
      asking.remove();
      showPieces(holder, piece);
    } catch (error) {
      asking.replaceWith(cannotShow('The rest', error));
    }
  };
  holder.append(asking);
}

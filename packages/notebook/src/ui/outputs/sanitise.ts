import { messageOf } from '@notebridge/protocol/util/message-of';
import createPurify from 'dompurify';
import { el } from '../dom.js';
import { besideImage, pathBeside } from './beside-images.js';
import type { HtmlPiece } from './bound-html.js';
import { attributesOf, htmlTags } from './html-names.js';
import { safeImage } from './images.js';
import { expectLate } from './late-parts.js';

export interface SanitiseOptions {
  /** The address to use for an image whose address is not a `data:` one. */
  imageFor?: (address: string) => string | undefined;
  /** It goes into a shadow tree: there, its names of classes and parts reach nothing of ours. */
  isApart?: boolean;
}

/** What one call is about; the hooks belong to the one instance that the page's policy allows (`trusted-types dompurify`). */
let call: SanitiseOptions & { styles: readonly string[]; images: { element: Element; address: string }[] } = { styles: [], images: [] };
const purify = createPurify(window);

purify.addHook('afterSanitizeAttributes', (element) => {
  const style = element.getAttribute('nb-style');
  element.removeAttribute('nb-style');
  // The policy refuses style attributes. What is harmless of them is set through the object model.
  if (style !== null && element instanceof HTMLElement) element.style.cssText = call.styles[Number(style)] ?? '';
  if (element.tagName === 'IMG') {
    call.images.push({ element, address: element.getAttribute('src') ?? '' });
    element.removeAttribute('src');
  }
  if (element.tagName === 'A') guardLink(element);
});

/**
 * Foreign HTML as elements that can do nothing: no scripts, no handlers, no forms, no frames, no roles, nothing loaded from elsewhere.
 * What comes in is bounded already (`bound-html.ts`); the page's policy (CSP) forbids the same once more.
 */
export function sanitised({ html, styles }: HtmlPiece, options: SanitiseOptions = {}): DocumentFragment {
  call = { ...options, styles, images: [] };
  const fragment = purify.sanitize(html, {
    RETURN_DOM_FRAGMENT: true,
    ALLOWED_TAGS: [...htmlTags],
    ALLOWED_ATTR: [...(options.isApart ? attributesOf.apart : attributesOf.page)],
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
    SANITIZE_NAMED_PROPS: false,
    // The addresses of images and links are judged below, one by one; the library knows nothing of attachments.
    ALLOWED_URI_REGEXP: /^(?:https?|mailto|data|attachment):|^[^a-z]|^[a-z][\w.+-]*(?:[^\w.+:-]|$)/i,
  });
  for (const { element, address } of call.images) guardImage(element, address, options);
  return fragment;
}

function guardImage(element: Element, address: string, { imageFor }: SanitiseOptions): void {
  const known = imageFor?.(address);
  const path = known === undefined ? pathBeside(address) : undefined;
  if (path === undefined) return showImage(element, known ?? address, address);
  const shown = besideImage(path).then(
    (image) => showImage(element, image, address),
    (error: unknown) => note(element, messageOf(error)),
  );
  expectLate(shown);
}

/** `written`: the address as the text has it, for a person to read. */
function showImage(element: Element, address: string, written: string): void {
  try {
    const image = safeImage(address);
    if (image !== undefined) element.setAttribute('src', image);
    // Nothing is fetched from elsewhere: the server would learn that the notebook was opened.
    else note(element, `Image not loaded: ${(element.getAttribute('alt') || written || 'no address').slice(0, 300)}`);
  } catch (error) {
    note(element, `Image not shown: ${messageOf(error)}`);
  }
}

function note(element: Element, text: string): void {
  element.replaceWith(el('span', { class: 'not-loaded' }, text));
}

function guardLink(element: Element): void {
  const address = element.getAttribute('href') ?? '';
  if (!/^(https?:|mailto:)/i.test(address)) return element.removeAttribute('href');
  element.setAttribute('target', '_blank');
  element.setAttribute('rel', 'noopener noreferrer nofollow');
}

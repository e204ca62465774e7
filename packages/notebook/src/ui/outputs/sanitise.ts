import createPurify from 'dompurify';
import { safeStyle } from './safe-css.js';

export interface SanitiseOptions {
  /** The address to use for an image whose address is not a `data:` one. */
  imageFor?: (address: string) => string | undefined;
  /** It goes into a shadow tree. */
  isApart?: boolean;
  /** Where the text of style elements goes. Without it they are dropped. */
  onStyles?: (css: string) => void;
}

/** What one call finds; the hooks belong to the one instance that the page's policy allows (`trusted-types dompurify`). */
interface Call extends SanitiseOptions {
  readonly styles: Map<Element, string>;
}

let call: Call = { styles: new Map() };
const purify = createPurify(window);

purify.addHook('uponSanitizeElement', (node, { tagName }) => {
  if (tagName !== styleElement) return;
  call.onStyles?.(node.textContent ?? '');
  node.textContent = '';
});
purify.addHook('uponSanitizeAttribute', (element, attribute) => {
  if (attribute.attrName !== styleAttribute) return;
  call.styles.set(element, attribute.attrValue);
  attribute.keepAttr = false;
});
purify.addHook('afterSanitizeAttributes', (element) => {
  if (element.tagName === 'IMG') guardImage(element, call.imageFor);
  if (element.tagName === 'A') guardLink(element);
});

/**
 * Foreign HTML as elements that can do nothing: no scripts, no handlers, no forms, no frames, nothing loaded from elsewhere. The
 * page's policy (CSP) forbids the same a second time.
 */
export function sanitised(html: string, options: SanitiseOptions = {}): DocumentFragment {
  call = { ...options, styles: new Map() };
  const fragment = purify.sanitize(withoutStyles(html), {
    RETURN_DOM_FRAGMENT: true,
    USE_PROFILES: { html: true },
    FORBID_TAGS: forbiddenTags,
    FORBID_ATTR: forbiddenAttributes,
    ALLOW_DATA_ATTR: false,
    // In the page, an id of theirs could stand for one of ours; in a shadow tree it is out of reach, and styles need it.
    SANITIZE_NAMED_PROPS: !options.isApart,
  });
  // The policy refuses style attributes. What is harmless of them is set through the object model.
  for (const [element, css] of call.styles) if (element instanceof HTMLElement) safeStyle(element, css);
  return fragment;
}

const styleElement = 'nb-style';
const styleAttribute = 'nb-style';

/**
 * Styles under names of ours: under their own, the browser would report a breach of the policy for each of them as soon as the text is
 * parsed. This only keeps the console quiet: a style that is overlooked is removed below and refused by the policy.
 */
function withoutStyles(html: string): string {
  return html
    .replace(/<(\/?)style\b/gi, `<$1${styleElement}`)
    .replace(/<[a-z][^<>]*>/gi, (tag) => tag.replace(/([\s"'])style(\s*=)/gi, `$1${styleAttribute}$2`));
}

/** Things that act, load or catch what a person types. */
const forbiddenTags = [
  'style',
  'form',
  'input',
  'button',
  'select',
  'textarea',
  'option',
  'dialog',
  'video',
  'audio',
  'source',
  'picture',
  'track',
  'map',
  'area',
];

const forbiddenAttributes = [
  'style',
  'srcset',
  'background',
  'poster',
  'ping',
  'autofocus',
  'tabindex',
  'accesskey',
  'contenteditable',
  'popover',
  'popovertarget',
  'name',
];

function guardImage(element: Element, imageFor: SanitiseOptions['imageFor']): void {
  const address = element.getAttribute('src') ?? '';
  const image = /^data:image\//i.test(address) ? address : imageFor?.(address);
  if (image) return element.setAttribute('src', image);
  element.removeAttribute('src');
  // Nothing is fetched from elsewhere: whoever runs that server would learn that the notebook was opened.
  const note = element.ownerDocument.createElement('span');
  note.className = 'not-loaded';
  note.textContent = `Image not loaded: ${element.getAttribute('alt') || address || 'no address'}`;
  element.replaceWith(note);
}

function guardLink(element: Element): void {
  const address = element.getAttribute('href') ?? '';
  if (!/^(https?:|mailto:)/i.test(address)) return element.removeAttribute('href');
  element.setAttribute('target', '_blank');
  element.setAttribute('rel', 'noopener noreferrer nofollow');
}

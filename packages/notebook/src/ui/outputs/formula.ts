import { decodeEntities } from '../../outputs/entities.js';
import { MarkupReader } from '../../outputs/markup-tokens.js';

const htmlTags = new Set(['span']);
const svgTags = new Set(['svg', 'g', 'path', 'line']);
const mathTags = new Set(
  `math semantics annotation mrow mi mo mn ms msup msub msubsup mfrac mroot msqrt mtable mtr mtd mlabeledtr mtext mspace mstyle mover munder
  munderover mpadded menclose mphantom`.split(/\s+/),
);
const namespaces = { html: 'http://www.w3.org/1999/xhtml', svg: 'http://www.w3.org/2000/svg', math: 'http://www.w3.org/1998/Math/MathML' };

/** All of them say how something looks. */
const attributes = new Set(
  `class aria-hidden d x1 x2 y1 y2 stroke-width viewBox preserveAspectRatio width height depth voffset display mathvariant stretchy fence
  separator lspace rspace minsize maxsize columnalign columnspacing rowspacing columnlines rowlines scriptlevel displaystyle accent accentunder
  linethickness mathcolor mathbackground notation encoding side movablelimits largeop symmetric mathsize`.split(/\s+/),
);
const className = /^[\w -]{0,200}$/;
const styles =
  /^(?:(?:min-|max-)?(?:width|height)|top|bottom|left|right|vertical-align|(?:margin|padding)(?:-(?:top|right|bottom|left))?|border-(?:(?:top|right|bottom|left)-)?(?:width|style|color)|color|background-color|position)$/;
const styleValue = /^(?:-?\d{0,4}(?:\.\d+)?(?:em|px|pt|%)?|calc\(100% [-+] \d{0,3}(?:\.\d+)?em\)|#[\da-f]{3,8}|[a-z]{1,30})$/i;

/**
 * What KaTeX made of a formula, as elements. They are made one by one from a short list of names, and no markup is parsed: whatever a
 * formula might get past KaTeX, nothing here can act, load, or name an address.
 */
export function formulaElement(html: string): HTMLElement {
  const root = document.createElement('span');
  const open: Element[] = [root];
  const reader = new MarkupReader(html);
  for (let token = reader.next(); token; token = reader.next()) {
    const parent = open.at(-1) ?? root;
    if (token.kind === 'close') {
      if (open.length > 1) open.pop();
    } else if (token.kind === 'open') {
      const element = create(token.name, token.attributes);
      parent.append(element);
      if (!token.isClosed) open.push(element);
    } else parent.append(decodeEntities(token.kind === 'text' ? html.slice(token.from, token.to) : token.text));
  }
  return root;
}

/** What is not known becomes a box that means nothing, so that the nest stays as it is. */
function create(name: string, written: readonly (readonly [string, string])[]): Element {
  const space = svgTags.has(name) ? namespaces.svg : mathTags.has(name) ? namespaces.math : namespaces.html;
  const element = document.createElementNS(space, space === namespaces.html && !htmlTags.has(name) ? 'span' : name);
  for (const [key, raw] of written) {
    const value = decodeEntities(raw);
    if (key === 'style') setStyles(element as HTMLElement, value);
    else if (attributes.has(key) && (key !== 'class' || className.test(value))) element.setAttribute(key, value);
  }
  return element;
}

/** By the object model: the page's policy refuses style attributes. */
function setStyles({ style }: HTMLElement | SVGElement | MathMLElement, css: string): void {
  for (const declaration of css.split(';')) {
    const colon = declaration.indexOf(':');
    const [name, value] = [declaration.slice(0, Math.max(0, colon)).trim(), declaration.slice(colon + 1).trim()];
    if (!styles.test(name) || !styleValue.test(value) || (name === 'position' && value !== 'relative')) continue;
    style.setProperty(name, value);
  }
}

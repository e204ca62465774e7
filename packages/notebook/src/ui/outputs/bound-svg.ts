import { appendAll } from '@notebridge/protocol/util/long-lists';
import { decodeEntities } from '../../outputs/entities.js';
import { MarkupReader } from '../../outputs/markup-tokens.js';
import { maxPixels, pixelsOf } from './image-size.js';
import { referenceIn, safeDeclarations, safeSheet } from './safe-css.js';

/** A drawing that is not shown; the message says why. */
export class UnshownDrawing extends Error {}

/** Shapes that are drawn, each as often as `use`, patterns, masks and the like repeat it. */
const maxShapes = 40_000;
const maxDepth = 64;
const maxCharacters = 8_000_000;
const maxText = 50_000;
const maxFilters = 20;
const filterCost = 500;
const imageCost = 500;

const tags = new Set(
  `svg g defs symbol use path rect circle ellipse line polyline polygon text tspan textPath a image clipPath mask pattern marker
  linearGradient radialGradient stop style title desc switch filter feGaussianBlur feOffset feMerge feMergeNode feColorMatrix feComposite
  feFlood feBlend feDropShadow feComponentTransfer feFuncR feFuncG feFuncB feFuncA`.split(/\s+/),
);
/** Gone with all that they hold: what moves, acts, brings foreign content in, or takes a processor minutes to filter. */
const silent = new Set(
  `script foreignObject animate animateMotion animateTransform animateColor set mpath discard iframe audio video canvas metadata
  feTurbulence feMorphology feConvolveMatrix feDiffuseLighting feSpecularLighting feDisplacementMap feImage feTile`.split(/\s+/),
);
/** Long lists of numbers, which hold no address and no function. */
const numbers = /^(?:d|points|x|y|dx|dy|rotate|values|tableValues|viewBox|gradientTransform|transform|patternTransform)$/;
const maxAttribute = 2000;
/** Of a part that others refer to: in one spelling, so that what is counted is what a browser follows. */
const plainName = /^[\w.:-]{1,200}$/;
const maxNest = 1000;

interface Part {
  readonly children: Part[];
  readonly references: string[];
  cost: number;
}

/**
 * An SVG written anew for an `img`, where it runs nothing and loads nothing by itself. What is bounded here is what it costs: a browser
 * draws it on the page's own thread. Throws `UnshownDrawing`.
 */
export function boundSvg(source: string): string {
  if (source.length > maxCharacters) throw new UnshownDrawing(`it has ${source.length.toLocaleString('en')} characters`);
  return new SvgBounder(source.toWellFormed()).write();
}

class SvgBounder {
  readonly #reader: MarkupReader;
  readonly #out: string[] = [];
  readonly #open: { readonly name: string; readonly part: Part }[] = [];
  readonly #named = new Map<string, Part>();
  readonly #root: Part = { children: [], references: [], cost: 0 };
  #depthOver = 0;
  #filters = 0;

  constructor(source: string) {
    this.#reader = new MarkupReader(source);
  }

  write(): string {
    for (let token = this.#reader.next(); token; token = this.#reader.next()) {
      if (token.kind === 'open') this.#element(token.name.replace(/^svg:/, ''), token.attributes, token.isClosed);
      else if (token.kind === 'close') this.#close(token.name.replace(/^svg:/, ''));
      else if (this.#open.length > 0) {
        const text = token.kind === 'text' ? this.#reader.source.slice(token.from, token.to) : token.text.replaceAll('&', '&amp;');
        this.#out.push(escaped(text.slice(0, maxText)));
        this.#current.cost += text.length / 20;
      }
      if (this.#out.length > 4 * maxShapes) throw tooMany();
    }
    while (this.#open.length > 0) this.#close(this.#open.at(-1)?.name ?? '');
    if (this.#out.length === 0) throw new UnshownDrawing('it is no SVG');
    if (shapesOf(this.#root, this.#named) > maxShapes) throw tooMany();
    return this.#out.join('');
  }

  get #current(): Part {
    return this.#open.at(-1)?.part ?? this.#root;
  }

  #element(name: string, attributes: readonly (readonly [string, string])[], isClosed: boolean): void {
    if (this.#open.length === 0 && (name !== 'svg' || this.#out.length > 0)) return;
    if (name === 'style') {
      if (!isClosed)
        this.#out.push(`<style>${escaped(safeSheet(this.#reader.rawText('style').replace(/<!\[CDATA\[|\]\]>/g, '')))}</style>`);
      return;
    }
    if (silent.has(name)) return isClosed ? undefined : this.#reader.passElement(name);
    if (!tags.has(name) || (name === 'image' && !attributes.some(([key, value]) => /^(?:xlink:)?href$/.test(key) && isPicture(value))))
      return;
    if (this.#open.length >= maxDepth) {
      if (!isClosed) this.#depthOver++;
      return;
    }
    if (name.startsWith('fe') && ++this.#filters > maxFilters) throw new UnshownDrawing('it has too many filters');
    const part: Part = { children: [], references: [], cost: name.startsWith('fe') ? filterCost : name === 'image' ? imageCost : 1 };
    const written = this.#attributes(part, attributes);
    const namespace = this.#open.length === 0 ? ' xmlns="http://www.w3.org/2000/svg"' : '';
    this.#out.push(`<${name}${namespace}${written}${isClosed ? '/' : ''}>`);
    this.#current.children.push(part);
    if (!isClosed) this.#open.push({ name, part });
  }

  #attributes(part: Part, attributes: readonly (readonly [string, string])[]): string {
    const written = new Map<string, string>();
    for (const [rawName, value] of attributes) {
      const name = rawName === 'xlink:href' ? 'href' : rawName;
      if (!/^[a-zA-Z][\w-]*$/.test(name) || /^(?:on|xmlns|nb-)/i.test(name) || written.has(name)) continue;
      const safe = this.#value(part, name, value);
      if (safe !== undefined) written.set(name, safe);
    }
    const id = written.get('id');
    if (id !== undefined && !this.#named.has(id)) this.#named.set(id, part);
    return [...written].map(([name, value]) => ` ${name}="${escaped(value).replaceAll('"', '&quot;')}"`).join('');
  }

  #value(part: Part, name: string, value: string): string | undefined {
    if (name === 'id') return plainName.test(value) ? value : undefined;
    if (name === 'href') {
      const isOwn = value.startsWith('#') && plainName.test(value.slice(1));
      if (isOwn) part.references.push(value.slice(1));
      return isOwn || isPicture(value) ? value : undefined;
    }
    if (numbers.test(name)) return /^[\w\s.,+()%-]*$/.test(value) ? value : undefined;
    if (value.length > maxAttribute || value.includes('\\')) return undefined;
    if (name === 'style') {
      const safe = safeDeclarations(decodeEntities(value), { isDrawing: true });
      appendAll(
        part.references,
        safe.split(';').flatMap((each) => referenceIn(each.slice(each.indexOf(':') + 1)) ?? []),
      );
      return safe;
    }
    if (!decodeEntities(value).includes('(')) return value;
    const reference = referenceIn(decodeEntities(value));
    if (reference !== undefined) part.references.push(reference);
    return reference !== undefined || /^(?:rgb|hsl)a?\([\d\s.,%/]*\)$/.test(value) ? value : undefined;
  }

  #close(name: string): void {
    if (this.#depthOver > 0) return void this.#depthOver--;
    const index = this.#open.findLastIndex((each) => each.name === name);
    if (index === -1) return;
    while (this.#open.length > index) this.#out.push(`</${this.#open.pop()?.name}>`);
    // The drawing ends with its root; what comes behind it would make it none.
    if (index === 0) this.#reader.at = this.#reader.source.length;
  }
}

/** Those that hold no other drawing, of a size that is no burden. */
function isPicture(address: string): boolean {
  return /^data:image\/(?:png|jpeg|gif|webp);base64,[\w+/=\s]*$/.test(address) && pixelsOf(address) <= maxPixels;
}

function tooMany(): UnshownDrawing {
  return new UnshownDrawing(`it draws more than ${maxShapes.toLocaleString('en')} shapes`);
}

/** What is drawn if every reference is followed. One that leads back to itself is an error, and draws nothing. */
function shapesOf(root: Part, named: ReadonlyMap<string, Part>): number {
  const known = new Map<Part, number>();
  const counting = new Set<Part>();
  const count = (part: Part, depth: number): number => {
    if (depth > maxNest) throw new UnshownDrawing('its parts refer to one another too deeply');
    const before = known.get(part);
    if (before !== undefined) return before;
    if (counting.has(part)) return 0;
    counting.add(part);
    let sum = part.cost;
    for (const child of part.children) sum += count(child, depth + 1);
    for (const id of part.references) {
      const target = named.get(id);
      if (target) sum += count(target, depth + 1);
    }
    counting.delete(part);
    known.set(part, Math.min(sum, Number.MAX_SAFE_INTEGER));
    return sum;
  };
  return count(root, 0);
}

/** Of XML, five entities and the numbers of characters; of others nobody knows what they would become. */
function escaped(text: string): string {
  return (
    text
      .replace(/&(?!(?:amp|lt|gt|quot|apos|#\d{1,6}|#x[\da-fA-F]{1,5});)/g, '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      // biome-ignore lint/suspicious/noControlCharactersInRegex: XML knows none of them.
      .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '')
  );
}

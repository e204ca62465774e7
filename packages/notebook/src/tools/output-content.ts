import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { answerBudget } from '@notebridge/protocol/runs/answer-budget';
import type { Output } from '../model/output.js';
import { splitOutput, widgetIdOf, withValues } from '../model/outputs.js';
import { toText } from '../model/text.js';
import { toCompactTable } from '../outputs/html-table.js';
import { type ImageFacts, readImageFacts } from '../outputs/image-facts.js';
import { type ImageBounds, maxDecodedPixels } from '../outputs/image-scaling.js';
import { describeScripted } from '../outputs/scripted-summary.js';
import { toPlainText } from '../outputs/terminal-text.js';
import { withShownWithin } from '../widgets/shown-within.js';
import type { WidgetModels } from '../widgets/widget-models.js';
import { widgetText } from '../widgets/widget-text.js';
import type { ContentBlock, ToolOptions } from './tool.js';

/** Characters of JSON that one result's outputs may take. */
export function maxTextCharactersOf({ whole }: ToolOptions): number {
  return whole ? Number.POSITIVE_INFINITY : answerBudget.textCharacters;
}

const { imageEdge: maxEdge, imagesOfFullSize, scalingMs, drawingMs } = answerBudget;

/** As most of them are: a value that is none is text. */
const imageTypes = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];
const dataAddress = /data:[\w.+/-]{3,60};base64,[\w+/=]{100,}/g;
const base64Start = /^[A-Za-z0-9+/]{64}/;
const base64 = /^[A-Za-z0-9+/]+={0,2}$/;

/**
 * Outputs as nbformat has them on disk, as an agent reads them: without codes of a terminal, tables as a few lines, and images as blocks of
 * the result, where the text says which. An image is never cut: one that is too large is scaled, and one that cannot be shown is named, since
 * hosts refuse a whole conversation for a block that is no image. Behind a widget stands what its code has shown within it.
 */
export function createImageCollector(options: ToolOptions, widgets?: WidgetModels) {
  const {
    maxImages = answerBudget.images,
    maxImageBytes = answerBudget.imageBytes,
    whole = false,
    elsewhere = 'get_output shows it',
  } = options;
  const blocks: ContentBlock[] = [];
  let left = imagesOfFullSize * maxImageBytes;
  let deadline: number | undefined;
  let drawUntil: number | undefined;

  const put = (data: string, facts: Facts, note = ''): string => {
    left -= facts.bytes;
    blocks.push({ type: 'image', data, mimeType: facts.mimeType });
    return `[image block ${blocks.length} of this result: ${describe(facts)}${note}]`;
  };
  const take = async (data: string, bounds: ImageBounds): Promise<string> => {
    const facts = readImageFacts(data);
    if (facts === undefined) return `[not shown: ${data.length} characters of base64 that are no PNG, JPEG, GIF or WebP image]`;
    const { maxBytes, region } = bounds;
    const isSmall = facts.bytes <= maxBytes && Math.max(facts.width, facts.height) <= bounds.maxEdge && region === undefined;
    if (whole || (facts.isWhole && isSmall)) return put(data, facts);
    const why = cannotScale(facts, options);
    if (why !== undefined) return `[not shown: ${describe(facts)}; ${why}]`;
    deadline ??= Date.now() + scalingMs;
    if (Date.now() > deadline) return `[left out: ${describe(facts)}; ${elsewhere}]`;
    try {
      const format = facts.format as 'PNG' | 'JPEG';
      const scaled = await (options.scaleImage as NonNullable<ToolOptions['scaleImage']>)({ data, format }, bounds);
      const isSame = scaled.width === facts.width && scaled.height === facts.height && scaled.format === facts.format;
      return put(
        scaled.data,
        scaled,
        isSame && region === undefined ? '' : `, ${region ? 'a region of' : 'scaled from'} ${describe(facts)}`,
      );
    } catch (error) {
      return `[not shown: ${describe(facts)}; ${error instanceof Error ? error.message : 'it cannot be decoded'}]`;
    }
  };
  /** Scaled to less than an eighth it would show nothing. */
  const isFull = (): boolean => !whole && (blocks.length >= maxImages || left < maxImageBytes / 8);
  const takeFrom = async (data: JsonObject): Promise<JsonObject> => {
    const taken: JsonObject = {};
    for (const mimeType of imageTypes) {
      const value = data[mimeType];
      if (typeof value !== 'string') continue;
      // Not looked at any further: there may be thousands.
      if (isFull() && base64Start.test(value)) taken[mimeType] = `[left out: ${value.length} characters of base64; ${elsewhere}]`;
      else {
        const image = toBase64(mimeType, value);
        if (image !== undefined) taken[mimeType] = await take(image, { maxBytes: Math.min(maxImageBytes, left), maxEdge });
      }
    }
    return withValues(data, taken);
  };
  /** A chart is seen by a picture, where something draws it; its description stays. */
  const withPicture = async (output: Output, readable: Output): Promise<Output> => {
    const { data } = output as { data?: JsonObject };
    const isSeen = !data || imageTypes.some((type) => data[type] !== undefined) || describeScripted(data) === undefined;
    drawUntil ??= Date.now() + drawingMs;
    const picture = isSeen || isFull() || Date.now() > drawUntil ? undefined : await options.drawChart?.(output);
    return picture === undefined ? readable : ({ ...readable, data: { ...(readable.data as JsonObject), 'image/png': picture } } as Output);
  };
  const collect = async (outputs: readonly Output[]): Promise<JsonObject[]> => {
    const collected: JsonObject[] = [];
    for (const output of withShownWithin(outputs, widgets)) {
      const onDisk = splitOutput(whole ? output : await withPicture(output, toReadable(output, widgets)));
      collected.push(isJsonObject(onDisk.data) ? withValues(onDisk, { data: await takeFrom(onDisk.data) }) : onDisk);
    }
    return collected;
  };
  /** One image alone, which may take as much as all of another result. What stands for it in the text; undefined for what is none. */
  const takeOne = (mimeType: string, value: string, region?: ImageBounds['region']): Promise<string> | undefined => {
    const image = toBase64(mimeType, value);
    return image === undefined ? undefined : take(image, { maxBytes: left, maxEdge, region });
  };
  return { blocks, collect, takeOne };
}

type Facts = Pick<ImageFacts, 'format' | 'mimeType' | 'width' | 'height' | 'bytes'>;

function describe({ format, width, height, bytes }: Facts): string {
  return `${width}×${height} ${format}, ${bytes} bytes`;
}

function cannotScale({ format, width, height, isWhole }: ImageFacts, { scaleImage }: ToolOptions): string | undefined {
  if (format !== 'PNG' && format !== 'JPEG') return isWhole ? 'it is too large for an answer' : 'its end is missing';
  if (width * height > maxDecodedPixels) return `more than ${maxDecodedPixels} pixels are not decoded here`;
  return scaleImage ? undefined : 'it is too large for an answer, or its end is missing';
}

/** Python writes line breaks into base64, which MCP does not have. Undefined for what is none. */
function toBase64(mimeType: string, value: unknown): string | undefined {
  if (typeof value !== 'string' || !imageTypes.includes(mimeType)) return undefined;
  const image = value.replaceAll(/\s/g, '');
  return base64.test(image) ? image : undefined;
}

/** IPython colours tracebacks and its pager (`len?`) for people, and programs their output; the document keeps all of it. */
function toReadable(output: Output, widgets: WidgetModels | undefined): Output {
  switch (output.output_type) {
    case 'stream':
      return { ...output, text: toPlainText(toText(output.text)) };
    case 'error': {
      const { ename, evalue, traceback } = output;
      return { ...output, ename: toPlainText(ename), evalue: toPlainText(evalue), traceback: traceback.map(toPlainText) };
    }
    default:
      return { ...output, data: toReadableBundle(output.data, widgets) };
  }
}

function toReadableBundle(data: JsonObject, widgets: WidgetModels | undefined): JsonObject {
  const modelId = widgetIdOf(data);
  const shown = modelId === undefined ? undefined : widgets && widgetText(widgets, modelId);
  if (shown !== undefined) return { ...data, 'text/plain': shown };
  const about = describeScripted(data);
  if (about !== undefined) return withoutScripts(data, about);
  const html = data['text/html'];
  const table = typeof html === 'string' ? toCompactTable(html) : undefined;
  const plain = data['text/plain'];
  if (table !== undefined && typeof html === 'string') {
    const note = `[${html.length} characters of HTML: the table of text/plain; get_output has them]`;
    return { ...data, 'text/html': note, 'text/plain': toPlainText(table) };
  }
  const markup = typeof html === 'string' ? { 'text/html': toTextOfMarkup(html) } : {};
  return typeof plain === 'string' ? { ...data, ...markup, 'text/plain': toPlainText(plain) } : { ...data, ...markup };
}

/** Images and styles within HTML are no text. */
function toTextOfMarkup(html: string): string {
  const parts = html.split(/<\/style>/i);
  const last = parts.pop() ?? '';
  const shown = [...parts.map((part) => part.replace(/<style\b[\s\S]*/i, '')), last].join('');
  return shown.replaceAll(dataAddress, (address) => `[${address.length} characters of data]`);
}

/** What a person sees as a chart or page, in a few words; images beside it stay. */
function withoutScripts(data: JsonObject, about: string): JsonObject {
  const images = Object.entries(data).filter(([type]) => imageTypes.includes(type));
  const left = Object.keys(data).filter((type) => type !== 'text/plain' && !imageTypes.includes(type));
  return { 'text/plain': `${about}\n[get_output has ${left.slice(0, 3).join(', ')}]`, ...Object.fromEntries(images) };
}

import { isJsonObject, type JsonObject } from '@notebridge/kit/json';
import type { Output } from '../kernel/kernel.js';
import { splitOutput, withValues } from '../model/outputs.js';
import type { ContentBlock, ToolOptions } from './tool.js';

/** Characters of JSON that one result's outputs may take. */
export function maxTextCharactersOf({ maxTextCharacters = 20_000 }: ToolOptions): number {
  // The rest of the result has keys and ids, and is escaped once more on its way.
  return 0.9 * maxTextCharacters;
}

const imageTypes = ['image/png', 'image/jpeg'];
const base64 = /^[A-Za-z0-9+/]+={0,2}$/;

/**
 * Outputs as nbformat has them on disk, and the images of a result. Agents see an image only as a block of its own, and in the text
 * its base64 would fill their memory: there, a note says which block it is. An image is never cut; one beyond the limits is named only.
 */
export function createImageCollector({ maxImages = 20, maxImageCharacters = 5_000_000 }: ToolOptions) {
  const blocks: ContentBlock[] = [];
  let characters = 0;

  const take = (image: string, mimeType: string): string => {
    const size = `${image.length} characters of base64`;
    if (blocks.length >= maxImages || characters + image.length > maxImageCharacters) {
      return `[left out: ${size}; read fewer cells at once to see it]`;
    }
    characters += image.length;
    blocks.push({ type: 'image', data: image, mimeType });
    return `[image block ${blocks.length} of this result: ${size}]`;
  };
  const takeFrom = (data: JsonObject): JsonObject => {
    const taken: JsonObject = {};
    for (const mimeType of imageTypes) {
      const value = data[mimeType];
      // Python writes line breaks into base64, which MCP does not have. What is none stays as it is.
      const image = typeof value === 'string' ? value.replaceAll(/\s/g, '') : '';
      if (base64.test(image)) taken[mimeType] = take(image, mimeType);
    }
    return withValues(data, taken);
  };
  const collect = (outputs: readonly Output[]): JsonObject[] =>
    outputs.map((output) => {
      const onDisk = withPlainTexts(splitOutput(output));
      return isJsonObject(onDisk.data) ? withValues(onDisk, { data: takeFrom(onDisk.data) }) : onDisk;
    });
  return { blocks, collect };
}

/** The terminal codes of a sequence: CSI (colours), OSC (titles, links) and the short ones. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const terminalCode = /\x1b\[[0-9:;<=>?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-Z\\^_]/g;

/**
 * IPython colours tracebacks and its pager (`len?`) for people, whose document keeps that; to an agent the codes are noise, up to half of
 * the text. What a program prints is its output, codes and all.
 */
function withPlainTexts(output: JsonObject): JsonObject {
  const { data, ename, evalue, traceback } = output;
  if (isJsonObject(data)) return withValues(output, { data: withValues(data, { 'text/plain': toPlain(data['text/plain']) }) });
  return withValues(output, { ename: toPlain(ename), evalue: toPlain(evalue), traceback: toPlain(traceback) });
}

function toPlain(text: unknown): unknown {
  if (Array.isArray(text)) return text.map(toPlain);
  return typeof text === 'string' ? text.replaceAll(terminalCode, '') : text;
}

import { isJsonObject, type JsonObject } from '@notebridge/kit/json';
import type { Output } from '../kernel/kernel.js';
import { splitOutput, withValues } from '../model/outputs.js';
import type { ContentBlock, ToolOptions } from './tool.js';

const imageTypes = ['image/png', 'image/jpeg'];
const base64 = /^[A-Za-z0-9+/]+={0,2}$/;

/**
 * Collects the images of a result. Agents see an image only as a block of its own, and in the text its base64 would fill their
 * memory: the text says which block it is. An image is never cut; one beyond the limits is named only.
 */
export class ImageCollector {
  readonly blocks: ContentBlock[] = [];
  readonly #maxImages: number;
  readonly #maxCharacters: number;
  #characters = 0;

  constructor({ maxImages = 20, maxImageCharacters = 5_000_000 }: ToolOptions) {
    this.#maxImages = maxImages;
    this.#maxCharacters = maxImageCharacters;
  }

  /** Outputs as nbformat has them on disk, with a note in place of each image. */
  collect(outputs: readonly Output[]): JsonObject[] {
    return outputs.map((output) => {
      const onDisk = splitOutput(output);
      return isJsonObject(onDisk.data) ? withValues(onDisk, { data: this.#takeFrom(onDisk.data) }) : onDisk;
    });
  }

  #takeFrom(data: JsonObject): JsonObject {
    const taken: JsonObject = {};
    for (const mimeType of imageTypes) {
      const value = data[mimeType];
      // Python writes line breaks into base64, which MCP does not have. What is none stays as it is.
      const image = typeof value === 'string' ? value.replaceAll(/\s/g, '') : '';
      if (base64.test(image)) taken[mimeType] = this.#take(image, mimeType);
    }
    return withValues(data, taken);
  }

  #take(image: string, mimeType: string): string {
    const size = `${image.length} characters of base64`;
    if (this.blocks.length >= this.#maxImages || this.#characters + image.length > this.#maxCharacters) {
      return `[left out: ${size}; read fewer cells at once to see it]`;
    }
    this.#characters += image.length;
    this.blocks.push({ type: 'image', data: image, mimeType });
    return `[image block ${this.blocks.length} of this result: ${size}]`;
  }
}

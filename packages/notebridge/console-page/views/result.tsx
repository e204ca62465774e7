import { useState } from 'preact/hooks';
import { lines, pretty } from '../format.js';
import { Nothing } from '../parts.js';

/** Pictures that a browser draws without running anything. */
const pictureTypes = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

interface Block {
  type?: unknown;
  text?: unknown;
  data?: unknown;
  mimeType?: unknown;
}

/** What a tool answered: its blocks as a person reads them, or as they came. */
export function Result({ result }: { result: unknown }) {
  const [isRaw, setRaw] = useState(false);
  const blocks = blocksOf(result);
  const { structuredContent } = (result ?? {}) as { structuredContent?: unknown };
  if (result === null || result === undefined) return <Nothing>Nothing.</Nothing>;
  if (blocks === undefined) return <pre class="values">{typeof result === 'string' ? lines(result) : pretty(result)}</pre>;
  return (
    <>
      <label class="choice">
        <input type="checkbox" checked={isRaw} onChange={(event) => setRaw(event.currentTarget.checked)} /> As it came
      </label>
      {isRaw ? (
        <pre class="values">{pretty(result)}</pre>
      ) : (
        <>
          {blocks.map((block, at) => (
            <OneBlock key={at} block={block} />
          ))}
          {structuredContent === undefined ? null : (
            <details>
              <summary>Structured content</summary>
              <pre class="values">{pretty(structuredContent)}</pre>
            </details>
          )}
        </>
      )}
    </>
  );
}

function OneBlock({ block }: { block: Block }) {
  const { type, text, data, mimeType } = block;
  if (type === 'text' && typeof text === 'string') return <pre class="values">{lines(text)}</pre>;
  if (type === 'image' && typeof data === 'string' && typeof mimeType === 'string' && pictureTypes.has(mimeType))
    return <img class="picture" alt="What the tool answered" src={`data:${mimeType};base64,${data.replaceAll(/[^\w+/=-]/g, '')}`} />;
  return <pre class="values">{pretty(block)}</pre>;
}

function blocksOf(result: unknown): readonly Block[] | undefined {
  if (typeof result !== 'object' || result === null || !('content' in result) || !Array.isArray(result.content)) return undefined;
  return result.content.filter((block): block is Block => typeof block === 'object' && block !== null);
}

import { useId, useState } from 'preact/hooks';
import { count, lines, oneLine } from '../format.js';
import { Box, Json, Nothing } from '../parts.js';

/** Pictures that a browser draws without running anything; SVG is none. */
const pictureTypes = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

/** Blocks that are drawn one by one. */
const mostBlocks = 100;

type Block = { [member: string]: unknown };

/** What a tool answered: its blocks as a person reads them, or all of it as it came (`raw`). */
export function Result({ result, raw = result }: { result: unknown; raw?: unknown }) {
  const id = useId();
  const [isRaw, setRaw] = useState(false);
  if (result === null || result === undefined) return <Nothing>Nothing.</Nothing>;
  if (typeof result === 'string') return <Box text={lines(result)} label="Result" />;
  const blocks = blocksOf(result);
  if (blocks === undefined) return <Json value={result} label="Result" />;
  const { structuredContent, structured_content: ofCode = structuredContent } = result as Block;
  return (
    <>
      <p class="choice">
        <input id={id} type="checkbox" checked={isRaw} onChange={(event) => setRaw(event.currentTarget.checked)} />{' '}
        <label for={id}>As it came</label>
      </p>
      {isRaw ? (
        <Json value={raw} label="Result as it came" />
      ) : (
        <>
          {blocks.slice(0, mostBlocks).map((block, at) => (
            <OneBlock key={at} block={block} />
          ))}
          {blocks.length > mostBlocks ? <Nothing>{`${count(blocks.length - mostBlocks, 'more block')}: see “As it came”.`}</Nothing> : null}
          {ofCode === undefined ? null : (
            <details>
              <summary>Structured content</summary>
              <Json value={ofCode} label="Structured content" />
            </details>
          )}
        </>
      )}
    </>
  );
}

function OneBlock({ block }: { block: Block }) {
  const { type, text, data, mimeType } = block;
  if (type === 'text' && typeof text === 'string') return <Box text={lines(text)} label="Text" />;
  if (type === 'image' && typeof data === 'string' && typeof mimeType === 'string' && pictureTypes.has(mimeType))
    return <img class="answer" alt={`Answer of the tool, ${oneLine(mimeType)}`} src={`data:${mimeType};base64,${data}`} />;
  return <Json value={block} label="Block" />;
}

function blocksOf(result: unknown): readonly Block[] | undefined {
  if (typeof result !== 'object' || result === null || !('content' in result) || !Array.isArray(result.content)) return undefined;
  const { content } = result;
  return content.length > 0 && content.every((block) => typeof block === 'object' && block !== null) ? content : undefined;
}

import { useState } from 'preact/hooks';
import { Box } from '../parts.js';

/** A text to take away. */
export function Copy({ text, label }: { text: string; label: string }) {
  const [said, setSaid] = useState<string>();
  const copy = (): void => {
    // Not there on an address that is neither loopback nor HTTPS.
    const written = navigator.clipboard?.writeText(text) ?? Promise.reject(new Error());
    written.then(
      () => setSaid('Copied'),
      () => setSaid('Select it and copy it by hand'),
    );
    setTimeout(() => setSaid(undefined), 3000);
  };
  return (
    <div class="copy">
      <Box text={text} label={label} />
      <button type="button" onClick={copy}>
        <span aria-hidden="true">{said ?? 'Copy'}</span>
        <span class="unseen" aria-live="polite">
          {said ?? `Copy: ${label}`}
        </span>
      </button>
    </div>
  );
}

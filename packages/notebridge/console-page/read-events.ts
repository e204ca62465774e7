export interface ServerSentEvent {
  event: string;
  data: string;
}

/** The server-sent events of an answer, as they come. Not by `EventSource`, which sends no `Authorization`. `onBytes`: something came, if only a heartbeat. */
export async function* readEvents({ body }: Response, onBytes: () => void = () => {}): AsyncGenerator<ServerSentEvent> {
  if (body === null) return;
  const reader = body.getReader();
  const decoder = new TextDecoder();
  try {
    let rest = '';
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      onBytes();
      const blocks = (rest + decoder.decode(value, { stream: true })).split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) {
        const event = /^event: (.*)$/m.exec(block)?.[1];
        const data = /^data: (.*)$/m.exec(block)?.[1];
        if (event !== undefined && data !== undefined) yield { event, data };
      }
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

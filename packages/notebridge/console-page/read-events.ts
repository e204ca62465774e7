export interface ServerSentEvent {
  event: string;
  data: string;
}

/** The server-sent events of an answer, as they come. Not by `EventSource`, which sends no `Authorization`. */
export async function* readEvents({ body }: Response): AsyncGenerator<ServerSentEvent> {
  if (body === null) return;
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const parts = (rest + value).split('\n\n');
    rest = parts.pop() ?? '';
    for (const part of parts) {
      const event = /^event: (.*)$/m.exec(part)?.[1];
      const data = /^data: (.*)$/m.exec(part)?.[1];
      if (event !== undefined && data !== undefined) yield { event, data };
    }
  }
}

import { connect } from 'node:net';

/**
 * One kept-alive HTTP/1.1 connection to loopback, one request at a time. It is this small so that the client costs little, and the
 * same for every target: with a client that costs more than a gateway, all gateways would look alike.
 */
export class Connection {
  #socket;
  #port;
  #answer;
  #error;
  #waiting;

  constructor(port) {
    this.#port = port;
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true });
    this.#socket.on('data', (chunk) => this.#read(chunk));
    this.#socket.on('timeout', () => this.#fail(new Error('No answer came in time.')));
    this.#socket.on('error', (error) => this.#fail(error));
    this.#socket.on('close', () => this.#fail(new Error('The gateway closed the connection.')));
  }

  /** Resolves with `{status, head, body}` once the last byte is in; rejects after `timeoutMs` without a byte. */
  send({ method = 'POST', path, headers = '', body = '' }, timeoutMs = 30_000) {
    return new Promise((resolve, reject) => {
      if (this.#error !== undefined) return reject(this.#error);
      this.#waiting = { resolve, reject };
      this.#answer = { head: undefined, parts: [], missing: 0, sizeLine: undefined };
      this.#socket.setTimeout(timeoutMs);
      this.#socket.write(
        `${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1:${this.#port}\r\n${headers}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
      );
    });
  }

  close() {
    this.#socket.destroy();
  }

  #read(chunk) {
    const answer = this.#answer;
    if (answer === undefined) return this.#fail(new Error(`Bytes that nobody asked for: ${chunk.latin1Slice(0, 100)}`));
    let rest = chunk;
    if (answer.head === undefined) {
      const bytes = answer.parts.length === 0 ? chunk : Buffer.concat([...answer.parts, chunk]);
      const end = bytes.indexOf('\r\n\r\n');
      if (end < 0) {
        answer.parts = [bytes];
        return;
      }
      answer.parts = [];
      answer.head = bytes.latin1Slice(0, end);
      answer.status = Number(answer.head.slice(9, 12));
      rest = bytes.subarray(end + 4);
      if (/\ntransfer-encoding: *chunked/i.test(answer.head)) answer.sizeLine = '';
      else answer.missing = Number(/\ncontent-length: *(\d+)/i.exec(answer.head)?.[1] ?? 0);
    }
    if (answer.sizeLine === undefined) this.#take(rest);
    else this.#takeChunked(rest);
  }

  #take(bytes) {
    const answer = this.#answer;
    if (bytes.length > 0) answer.parts.push(bytes);
    answer.missing -= bytes.length;
    if (answer.missing === 0) this.#done();
    else if (answer.missing < 0) this.#fail(new Error('More bytes than content-length says.'));
  }

  /** `missing` counts the bytes of the current chunk and the line end after it. */
  #takeChunked(bytes) {
    const answer = this.#answer;
    for (let from = 0; from < bytes.length; ) {
      if (answer.missing > 0) {
        const length = Math.min(answer.missing, bytes.length - from);
        const text = Math.min(length, answer.missing - 2);
        if (text > 0) answer.parts.push(bytes.subarray(from, from + text));
        answer.missing -= length;
        from += length;
        continue;
      }
      const end = bytes.indexOf(10, from);
      answer.sizeLine += bytes.latin1Slice(from, end < 0 ? bytes.length : end + 1);
      if (end < 0) return;
      from = end + 1;
      if (answer.isLast) {
        if (answer.sizeLine === '\r\n') return this.#done();
      } else {
        const size = Number.parseInt(answer.sizeLine, 16);
        answer.isLast = size === 0;
        answer.missing = size === 0 ? 0 : size + 2;
      }
      answer.sizeLine = '';
    }
  }

  #done() {
    const { head, status, parts } = this.#answer;
    this.#answer = undefined;
    const { resolve } = this.#waiting;
    this.#waiting = undefined;
    if (/\nconnection: *close/i.test(head)) this.#error = new Error('The gateway closed the connection.');
    resolve({ status, head, body: parts.length === 1 ? parts[0] : Buffer.concat(parts) });
  }

  #fail(error) {
    this.#error ??= error;
    this.#waiting?.reject(this.#error);
    this.#waiting = undefined;
    this.#socket.destroy();
  }
}

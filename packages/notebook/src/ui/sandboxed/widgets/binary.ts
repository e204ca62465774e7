import { base64ToBuffer, bufferToBase64 } from '@jupyter-widgets/base-manager';

export function fromBase64(text: string): DataView {
  return new DataView(base64ToBuffer(text));
}

export function toBase64(buffer: ArrayBuffer | ArrayBufferView): string {
  return bufferToBase64(
    ArrayBuffer.isView(buffer) ? new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength).slice().buffer : buffer,
  );
}

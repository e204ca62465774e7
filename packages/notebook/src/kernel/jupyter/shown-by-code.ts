import { isOutput } from '../messages.js';
import type { ShownByCode } from './kernel-comms.js';

type Content = { readonly [key: string]: unknown };

/** What a message of the kernel shows; undefined for one that shows nothing, or that is broken. */
export function toShown(messageType: string, content: Content): ShownByCode | undefined {
  if (messageType === 'clear_output') return { kind: 'clear', wait: content.wait === true };
  const update = messageType === 'update_display_data';
  const output = toOutput(update ? 'display_data' : messageType, content);
  const displayId = (content.transient as Content | undefined)?.display_id;
  if (!isOutput(output) || (update && typeof displayId !== 'string')) return undefined;
  return { kind: 'output', output, ...(typeof displayId === 'string' ? { displayId, update } : {}) };
}

/** What nbformat keeps of a message. */
function toOutput(type: string, content: Content): object | undefined {
  const { data, metadata = {}, execution_count, name, text, ename, evalue, traceback } = content;
  switch (type) {
    case 'stream':
      return { output_type: type, name, text };
    case 'display_data':
      return { output_type: type, data, metadata };
    case 'execute_result':
      return { output_type: type, data, metadata, execution_count };
    case 'error':
      return { output_type: type, ename, evalue, traceback };
    default:
      return undefined;
  }
}

import type { JsonObject } from '@notebridge/protocol/json';
import type { Output } from '../../model/output.js';
import { fromKernel } from '../../model/outputs.js';
import { isOutput } from '../messages.js';
import type { ShownByCode } from './kernel-comms.js';

/** The output, or its clearing, that a message of the kernel shows; undefined for one that shows nothing. A broken one is an error that says so. */
export function toShown(messageType: string, content: JsonObject): ShownByCode | undefined {
  if (messageType === 'clear_output') return { kind: 'clear', wait: content.wait === true };
  const update = messageType === 'update_display_data';
  const output = toOutput(update ? 'display_data' : messageType, content);
  const displayId = (content.transient as JsonObject | undefined)?.display_id;
  if (!output || (update && typeof displayId !== 'string')) return undefined;
  const kept = isOutput(output) ? output : fromKernel(output as Output);
  return { kind: 'output', output: kept, ...(typeof displayId === 'string' ? { displayId, update } : {}) };
}

/** The part of a message that nbformat keeps. */
function toOutput(type: string, content: JsonObject): object | undefined {
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

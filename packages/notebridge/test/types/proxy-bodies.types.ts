// @module-tag P-078

// Compiled by `tsc --noEmit`, never run: users of the package have a type of their own for an answer, since they need not have the library of the
// schemas. It is the one that the description has.
import type { ProxyBody } from '../../src/doors/tool-proxy/proxy-schemas.js';
import type { ToolCallResponse } from '../../src/index.js';

export const described = (answer: ToolCallResponse): ProxyBody<'ToolCallResponse'> => answer;
export const read = (body: ProxyBody<'ToolCallResponse'>): ToolCallResponse => body;

import type { ContentBlock, Tool, ToolResult } from '@notebridge/protocol/core/mcp';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import type { CodeMode } from './create-code-mode.js';

/** What a model is given of a result, in the words of the AI SDK. */
export type AiSdkOutput =
  | { type: 'content'; value: ({ type: 'text'; text: string } | { type: 'image-data'; data: string; mediaType: string })[] }
  | { type: 'error-text'; value: string };

/** A tool as `generateText` and `streamText` of the Vercel AI SDK (`ai`, 6 and later) take it in `tools`. Nothing of that package is needed here. */
export interface AiSdkTool {
  description: string;
  inputSchema: StandardJsonSchema;
  execute(input: JsonObject, options?: { abortSignal?: AbortSignal | undefined }): Promise<ToolResult>;
  toModelOutput(result: { output: ToolResult }): AiSdkOutput;
}

/** A JSON schema in the form of the Standard Schema specification, which the SDK takes beside its own. */
interface StandardJsonSchema {
  '~standard': {
    version: 1;
    vendor: string;
    validate: (value: unknown) => { value: JsonObject } | { issues: readonly { message: string }[] };
    jsonSchema: { input: () => JsonObject; output: () => JsonObject };
  };
}

/** The three tools of code mode for the Vercel AI SDK. Give `instructions` to the model as `system`. */
export function toAiSdkTools(codeMode: Pick<CodeMode, 'tools' | 'call'>): Record<string, AiSdkTool> {
  return Object.fromEntries(codeMode.tools.map((tool) => [tool.name, toAiSdkTool(tool, codeMode)]));
}

function toAiSdkTool({ name, description, inputSchema }: Tool, { call }: Pick<CodeMode, 'call'>): AiSdkTool {
  return {
    description: String(description ?? ''),
    inputSchema: toStandardSchema(isJsonObject(inputSchema) ? inputSchema : { type: 'object' }),
    execute: (input, { abortSignal } = {}) => call(name, input, { signal: abortSignal }),
    toModelOutput: ({ output }) => toOutput(output),
  };
}

/** Arguments are checked by the tool itself, which says what is wrong and what it takes. */
function toStandardSchema(schema: JsonObject): StandardJsonSchema {
  const validate: StandardJsonSchema['~standard']['validate'] = (value) =>
    isJsonObject(value) ? { value } : { issues: [{ message: 'The arguments must be an object.' }] };
  return { '~standard': { version: 1, vendor: 'notebridge', validate, jsonSchema: { input: () => schema, output: () => schema } } };
}

function toOutput({ content = [], isError }: ToolResult): AiSdkOutput {
  const images = content.filter(({ type }) => type === 'image');
  if (isError === true && images.length === 0) return { type: 'error-text', value: content.map(toText).join('\n') };
  return {
    type: 'content',
    value: content.map((block) =>
      block.type === 'image'
        ? { type: 'image-data', data: String(block.data), mediaType: String(block.mimeType) }
        : { type: 'text', text: toText(block) },
    ),
  };
}

function toText(block: ContentBlock): string {
  if (block.type === 'text') return String(block.text);
  const { uri, mimeType, text, blob } = isJsonObject(block.resource) ? block.resource : {};
  if (typeof text === 'string') return `${uri}:\n${text}`;
  // For the program, which finds it in the result: to a model its letters say nothing.
  if (typeof blob === 'string') return `[the file ${uri}, ${mimeType}, ${Math.floor((blob.length * 3) / 4)} bytes: not shown]`;
  return JSON.stringify(block);
}

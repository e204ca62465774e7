// @ts-self-types="./client.d.ts"
export { callTool, callToolRaw, configure, defineTool, ToolError } from './_client.js';

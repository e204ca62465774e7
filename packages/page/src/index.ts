export type { PageHistory, PageLocation, PageStorage } from './address.js';
export type { ReconnectOptions } from './backoff.js';
export type { CallEvent, CallOutcome, PageCall } from './call-runner.js';
export type { PageSocket, PageSocketConstructor } from './connection.js';
export { type AskOptions, askInDialog, askToHandOver, type ConsentRequest, type HandOverRequest } from './consent-dialog.js';
export {
  type Agent,
  type Complete,
  defineTool,
  type Listed,
  type PagePrompt,
  type PageResource,
  type PageResourceTemplate,
  type PageTool,
  type ToolCall,
} from './definitions.js';
export type { PagePermissions } from './diagnose.js';
export type { LogLevel } from './mcp-server.js';
export { createPageSession, type PageSession, type PageSessionOptions, type SessionEvents } from './page-session.js';
export { type Diagnosis, type DisconnectReason, describeAgent, describeState, type PageState } from './page-state.js';
export type { JsonSchema, Schema, StandardSchema } from './schema.js';

export { getSkillsProxyCaller, type SkillsProxyCaller, setSkillsProxyCaller } from '@notebridge/code-mode/skills/proxy-caller';
export type { SkillFolder } from '@notebridge/code-mode/skills/skill-folder';
export type { CallContext, Caller } from '@notebridge/protocol/core/call-context';
export { BridgeError, type ErrorCode } from '@notebridge/protocol/core/errors';
export type { ContentBlock, InitializeResult, ListToolsResult, Tool, ToolCall, ToolResult } from '@notebridge/protocol/core/mcp';
export type { RunnableTool } from '@notebridge/protocol/core/memory-provider';
export { MemoryToolServer, type MemoryToolServerOptions, MemoryToolServers } from '@notebridge/protocol/core/memory-tool-server';
export {
  type Answered,
  answer,
  type CallNext,
  type Hook,
  type Middleware,
  type MiddlewareContext,
  type MiddlewareHost,
} from '@notebridge/protocol/core/middleware';
export type { Principal } from '@notebridge/protocol/core/principal';
export type { Provider, ProviderEvent } from '@notebridge/protocol/core/provider';
export type { ToolAddress } from '@notebridge/protocol/core/tool-address';
export type {
  Exposure,
  NameStyle,
  ServerState,
  ServerStatus,
  ToolServer,
  ToolServerEvent,
  ToolServers,
} from '@notebridge/protocol/core/tool-server';
export type { Logger } from '@notebridge/protocol/util/logger';
export type { ClosableLogger } from '@notebridge/system/files/closable-logger';
export { type AiSdkOutput, type AiSdkTool, toAiSdkTools } from './assembly/code-mode/ai-sdk-tools.js';
export {
  type CodeMode,
  type CodeModeCallOptions,
  type CreateCodeModeOptions,
  createCodeMode,
} from './assembly/code-mode/create-code-mode.js';
export { createNotebridge, type Notebridge } from './assembly/create-notebridge.js';
export type { NotebookSetup, OpenedNotebook, OpenNotebook } from './assembly/notebooks/open-notebook.js';
export type { PageOptions } from './assembly/notebooks/page-options.js';
export type { HttpDoorOptions, NotebridgeOptions } from './assembly/options.js';
export { ServerTools, type ServerToolsOptions } from './catalog/server-tools.js';
export { createToolNaming } from './catalog/tool-naming.js';
export type { ServerConfig, UpstreamSettings } from './config/server-config.js';
export { createHttpApp, type HttpApp, type HttpAppOptions } from './doors/http/http-app.js';
export { type HttpListener, type ListenOptions, listenHttp } from './doors/http/listen.js';
export type { StdioDoor } from './doors/mcp/stdio.js';
export { listProxyServers, type ProxyServerList } from './doors/tool-proxy/list-proxy-servers.js';
export { proxyHealth } from './doors/tool-proxy/proxy-health.js';
export { proxyToolCall, type ToolCallOptions, type ToolCallRequest } from './doors/tool-proxy/proxy-tool-call.js';
export type { ToolCallResponse } from './doors/tool-proxy/to-answer.js';
export { createToolProxy, type ToolProxyDoorOptions } from './doors/tool-proxy/tool-proxy.js';
export type { ToolProxy } from './doors/tool-proxy/tool-proxy-context.js';
export { Admission, type AdmissionOptions } from './grants/admission.js';
export { type Authority, type AuthorityOptions, createAuthority } from './grants/authority.js';
export type { GrantDoor, GrantTerms, GrantView } from './grants/grant.js';
export { GrantStore, type GrantStoreOptions, type IssuedGrant } from './grants/grant-store.js';
export { createGuard, type Guard, type GuardOptions } from './grants/guard.js';
export { Hub, type HubOptions } from './hub.js';
export type { PageProfile } from './notebooks/profiles/profile.js';
export { createUpstreams, type Upstreams, type UpstreamsOptions } from './upstreams/upstreams.js';

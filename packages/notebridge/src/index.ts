export type { Logger } from '@notebridge/kit/logger';
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
export type { SkillFolder } from './config/skill-folder.js';
export type { CallContext, Caller } from './core/call-context.js';
export { BridgeError, type ErrorCode } from './core/errors.js';
export type { ContentBlock, InitializeResult, ListToolsResult, Tool, ToolCall, ToolResult } from './core/mcp.js';
export type { RunnableTool } from './core/memory-provider.js';
export { MemoryToolServer, type MemoryToolServerOptions, MemoryToolServers } from './core/memory-tool-server.js';
export {
  type Answered,
  answer,
  type CallNext,
  type Hook,
  type Middleware,
  type MiddlewareContext,
  type MiddlewareHost,
} from './core/middleware.js';
export type { Principal } from './core/principal.js';
export type { Provider, ProviderEvent } from './core/provider.js';
export type { ToolAddress } from './core/tool-address.js';
export type { Exposure, NameStyle, ServerState, ServerStatus, ToolServer, ToolServerEvent, ToolServers } from './core/tool-server.js';
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
export { getSkillsProxyCaller, type SkillsProxyCaller, setSkillsProxyCaller } from './skills/proxy-caller.js';
export type { ClosableLogger } from './state/closable-logger.js';
export { createUpstreams, type Upstreams, type UpstreamsOptions } from './upstreams/upstreams.js';

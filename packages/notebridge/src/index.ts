export type { CallContext, Caller } from './core/call-context.js';
export { BridgeError, type ErrorCode, errorTable, RemoteError } from './core/errors.js';
export { type Logger, silentLogger } from './core/logger.js';
export type { ContentBlock, InitializeResult, ListToolsResult, Tool, ToolCall, ToolResult } from './core/mcp.js';
export { McpClient } from './core/mcp-client.js';
export { MemoryProvider, type MemoryProviderOptions, type RunnableTool } from './core/memory-provider.js';
export { type Channel, createChannelPair, MessageStream } from './core/message-stream.js';
export {
  type Answered,
  answer,
  type CallNext,
  type Hook,
  type Middleware,
  type MiddlewareContext,
  type MiddlewareHost,
} from './core/middleware.js';
export type { Provider, ProviderEvent } from './core/provider.js';
export { AgentSession } from './doors/mcp/agent-session.js';
export { type StdioDoor, type StdioOptions, serveStdio } from './doors/mcp/stdio.js';
export { Hub, type HubOptions } from './hub.js';
export { ToolInjectionMiddleware } from './middleware/tool-injection.js';
export { PageSession, type PageSessionOptions } from './notebooks/pages/page-session.js';
export { ProxyServer, type ProxyServerOptions } from './notebooks/pages/proxy-server.js';
export { colabProfile } from './notebooks/profiles/colab.js';
export type { PageProfile } from './notebooks/profiles/profile.js';
export { ColabProxyClient, UI_CONNECTION_TIMEOUT } from './reference/colab-proxy-client.js';
export { ColabProxyMiddleware, type ColabProxyMiddlewareOptions } from './reference/colab-proxy-middleware.js';
export { ColabSessionProxy, type ColabSessionProxyOptions } from './reference/colab-session-proxy.js';
export { ColabTransport } from './reference/colab-transport.js';
export { ColabWebSocketServer, type ColabWebSocketServerOptions } from './reference/colab-web-socket-server.js';
export { McpHost } from './reference/mcp-host.js';
export { checkSessionProxyTool, checkSessionProxyToolFn } from './reference/open-tool.js';
export { PageOpener, type PageOpenerOptions } from './reference/page-opener.js';

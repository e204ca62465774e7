// The package `notebridge/reference`: the reference's classes, and what they are made of.

export { McpClient } from '@notebridge/protocol/rpc/mcp-client';
export { type Channel, createChannelPair, MessageStream } from '@notebridge/protocol/rpc/message-stream';
export { ToolInjectionMiddleware } from '../middleware/tool-injection.js';
export { PageSession, type PageSessionOptions } from '../notebooks/pages/page-session.js';
export { ProxyServer, type ProxyServerOptions } from '../notebooks/pages/proxy-server.js';
export { colabProfile } from '../notebooks/profiles/colab.js';
export { ColabProxyClient, UI_CONNECTION_TIMEOUT } from './colab-proxy-client.js';
export { ColabProxyMiddleware, type ColabProxyMiddlewareOptions } from './colab-proxy-middleware.js';
export { ColabSessionProxy, type ColabSessionProxyOptions } from './colab-session-proxy.js';
export { ColabTransport } from './colab-transport.js';
export { ColabWebSocketServer, type ColabWebSocketServerOptions } from './colab-web-socket-server.js';
export { McpHost } from './mcp-host.js';
export { checkSessionProxyTool, checkSessionProxyToolFn } from './open-tool.js';
export { PageOpener, type PageOpenerOptions } from './page-opener.js';

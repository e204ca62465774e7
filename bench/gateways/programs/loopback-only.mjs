// Loaded before a peer that cannot be told where to listen: `node --import loopback-only.mjs PEER`. It then listens on 127.0.0.1,
// and reaches nothing but this machine.
import { Server, Socket } from 'node:net';

const { listen } = Server.prototype;
Server.prototype.listen = function listenHere(...args) {
  const [first, second, ...others] = args;
  if (typeof first === 'number' || typeof first === 'string') {
    return listen.call(this, Number(first), '127.0.0.1', ...(typeof second === 'string' ? others : [second, ...others]));
  }
  return listen.call(this, { ...first, host: '127.0.0.1' }, second, ...others);
};

const { connect } = Socket.prototype;
Socket.prototype.connect = function connectHere(...args) {
  const [options, second] = Array.isArray(args[0]) ? args[0] : args;
  const { path, host = 'localhost' } = typeof options === 'object' ? options : { host: typeof second === 'string' ? second : undefined };
  if (path !== undefined || ['localhost', '127.0.0.1', '::1'].includes(host)) return connect.apply(this, args);
  // Refused, as by a host that is down. Nobody listens on port 1.
  return connect.call(this, { ...(typeof options === 'object' ? options : {}), host: '127.0.0.1', port: 1 });
};

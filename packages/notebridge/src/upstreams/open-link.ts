import { assertNamedOutside } from './assert-outside.js';
import type { OpenLink } from './link.js';
import { openStdioLink } from './stdio-link.js';

/** The way to a server that its config asks for. */
export const openLink: OpenLink = async (config, options) => {
  if (config.transport === 'stdio') return openStdioLink(config, options);
  assertNamedOutside([config.ca, config.auth?.privateKey]);
  const { openHttpLink } = await import('./http-link.js');
  return openHttpLink(config, options);
};

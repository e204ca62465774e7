import { assertOutside } from './assert-outside.js';
import type { OpenLink } from './link.js';
import { openStdioLink } from './stdio-link.js';

/** The way to a server that its config asks for. */
export const openLink: OpenLink = async (config, options) => {
  assertOutside(config);
  if (config.transport === 'stdio') return openStdioLink(config, options);
  const { openHttpLink } = await import('./http-link.js');
  return openHttpLink(config, options);
};

import type { UpstreamSettings } from '../config/server-config.js';
import { matchAny } from '../util/name-patterns.js';

/** Says of the name of a tool whether the config lets it be seen and called. */
export type ToolFilter = (tool: string) => boolean;

/** `allow` and `deny` of a config: names in which `*` stands for any text and `?` for one character. What is denied is denied. */
export function createToolFilter({ allow, deny }: UpstreamSettings['tools']): ToolFilter {
  const isAllowed = allow === undefined ? () => true : matchAny(allow);
  const isDenied = matchAny(deny);
  return (tool) => isAllowed(tool) && !isDenied(tool);
}

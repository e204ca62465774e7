import { BridgeError } from '@notebridge/protocol/core/errors';
import type { ToolAddress } from '@notebridge/protocol/core/tool-address';
import { quote } from '@notebridge/protocol/util/quote';

/** The tools that a list of patterns allows. */
export interface AllowList {
  /** As they were given, for texts and lists. */
  readonly patterns: readonly string[];
  allows(address: ToolAddress): boolean;
  /** True if one of the patterns allows every tool of the server: `github:*`, `github`, `*`. */
  allowsWhole(server: string): boolean;
  /** True if one of the patterns allows every tool of every server: `*:*`. */
  readonly allowsAll: boolean;
}

/** Of a grant that calls nothing. */
export const allowsNothing: AllowList = { patterns: [], allows: () => false, allowsWhole: () => false, allowsAll: false };

const maxPatterns = 200;
const maxLength = 500;

/**
 * Reads patterns of the form `server:tool`, `*` standing for any text anywhere: `github:*`, `*:read_*`. A pattern without a colon
 * is a whole server: `filesystem` is `filesystem:*`. The first colon divides. Names are compared exactly, case included.
 *
 * @throws BridgeError `bad_usage`, naming the pattern and what is wrong with it.
 */
export function parseAllowList(patterns: unknown): AllowList {
  if (!Array.isArray(patterns) || patterns.length === 0) {
    throw bad('`allow` must be a list with at least one pattern', 'Give patterns like "github:*", or leave it out to allow everything.');
  }
  if (patterns.length > maxPatterns) throw bad(`${patterns.length} patterns are too many, ${maxPatterns} are allowed`, 'Use `*`.');
  const rules = patterns.map(parsePattern);
  return {
    patterns: [...patterns],
    allows: ({ server, tool }) => rules.some((rule) => rule.server(server) && rule.tool(tool)),
    allowsWhole: (server) => rules.some((rule) => rule.isWhole && rule.server(server)),
    allowsAll: rules.some((rule) => rule.isWhole && rule.isEveryServer),
  };
}

interface Rule {
  server: Matcher;
  tool: Matcher;
  isWhole: boolean;
  isEveryServer: boolean;
}

function parsePattern(pattern: unknown): Rule {
  if (typeof pattern !== 'string') throw bad(`The pattern ${quote(pattern)} is not a text`, 'Write "server:tool".');
  if (pattern.length > maxLength) throw bad(`The pattern ${quote(pattern)} has more than ${maxLength} characters`, 'Use `*`.');
  const colon = pattern.indexOf(':');
  const server = colon < 0 ? pattern : pattern.slice(0, colon);
  const tool = colon < 0 ? '*' : pattern.slice(colon + 1);
  if (server === '') throw bad(`The pattern ${quote(pattern)} names no server`, 'Write "server:tool", or "*:tool" for every server.');
  if (tool === '') throw bad(`The pattern ${quote(pattern)} names no tool`, 'Write "server:tool", or "server:*" for all of its tools.');
  // The writer of these meant two patterns, and would get one that allows nothing.
  if (/[\s,]/.test(pattern)) throw bad(`The pattern ${quote(pattern)} has a space or comma in it`, 'Give each pattern by itself.');
  return { server: compileGlob(server), tool: compileGlob(tool), isWhole: isStars(tool), isEveryServer: isStars(server) };
}

type Matcher = (name: string) => boolean;

const isStars = (glob: string): boolean => /^\*+$/.test(glob);

/** By search from left to right, each piece as early as it comes: no regular expression, so no pattern is slow. */
function compileGlob(glob: string): Matcher {
  if (isStars(glob)) return () => true;
  const pieces = glob.split('*');
  const [first = ''] = pieces;
  if (pieces.length === 1) return (name) => name === glob;
  const last = pieces.at(-1) ?? '';
  const inner = pieces.slice(1, -1).filter((piece) => piece !== '');
  return (name) => {
    if (!name.startsWith(first)) return false;
    let at = first.length;
    for (const piece of inner) {
      const found = name.indexOf(piece, at);
      if (found < 0) return false;
      at = found + piece.length;
    }
    return name.length - last.length >= at && name.endsWith(last);
  };
}

function bad(found: string, next: string): BridgeError {
  return new BridgeError('bad_usage', `${found}. ${next}`);
}

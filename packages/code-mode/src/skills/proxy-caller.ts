import { toFailedResult, toTextResult } from '@notebridge/protocol/core/mcp';
import type { ToolServer, ToolServers } from '@notebridge/protocol/core/tool-server';
import { printJson } from '@notebridge/protocol/exact-json';
import type { JsonObject } from '@notebridge/protocol/json';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { BuiltInServer } from './built-in-server.js';
import { skillsServerName } from './skill-tools.js';

/**
 * Answers the tools of the server `skills` in our stead; `toolName` is such as `skills__load_skill`. What it returns is the result as
 * code in a kernel sees it; it may be a promise. What it throws is the error that code gets.
 */
export type SkillsProxyCaller = (toolName: string, args: JsonObject) => unknown;

let registered: { caller: SkillsProxyCaller; server: ToolServer } | undefined;
let timesSet = 0;

/**
 * Has calls of the server `skills` go to this function from now on, in every tool proxy of this process and whatever the config says;
 * null ends that.
 */
export function setSkillsProxyCaller(caller: SkillsProxyCaller | null): void {
  timesSet++;
  registered = caller === null ? undefined : { caller, server: skillsServerFrom(caller) };
}

/** The function that was set, or null. */
export function getSkillsProxyCaller(): SkillsProxyCaller | null {
  return registered?.caller ?? null;
}

/** The server `skills` as it is at this moment: that of the caller that was set, else our own, else none. */
export function currentSkillsServer(own: ToolServer | undefined): ToolServer | undefined {
  return registered?.server ?? own;
}

/** Another number once another function, or none, was set. */
export function skillsCallerRevision(): number {
  return timesSet;
}

/** The servers, with that of the caller in the place of `skills` while one is set. */
export function withSkillsCaller(servers: ToolServers): ToolServers {
  return {
    all() {
      const all = servers.all();
      return registered === undefined ? all : [...all.filter(({ name }) => name !== skillsServerName), registered.server];
    },
    get: (name) => (name === skillsServerName ? registered?.server : undefined) ?? servers.get(name),
    subscribe: (listener) => servers.subscribe(listener),
    get revision() {
      return servers.revision === undefined ? undefined : servers.revision + timesSet;
    },
  };
}

/** A server whose tools are answered by a function. An error that it throws is a failed call, with its message. */
export function skillsServerFrom(caller: SkillsProxyCaller): ToolServer {
  return new BuiltInServer(async (tool, args, context) => {
    try {
      const value = (await caller(`${skillsServerName}__${tool}`, args)) ?? null;
      const text = typeof value === 'string' ? value : (printJson(value) ?? String(value));
      return { ...toTextResult(text), structuredContent: { result: value } };
    } catch (error) {
      context.log('warning', messageOf(error), 'skills');
      return toFailedResult('skills_failed', messageOf(error));
    }
  });
}

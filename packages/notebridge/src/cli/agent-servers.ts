import { followConfig } from './follow-config.js';
import type { HubSetup } from './hub-setup.js';
import { ConfigServers } from './servers.js';

/** The servers of a config for the one agent of a process, kept as the config is. */
export interface AgentServers {
  servers: ConfigServers;
  /** Ends all of them. Closing twice is harmless. */
  close(): Promise<void>;
}

/** Starts the servers of the config, and follows its edits. Does not wait until they run: a list of tools does. */
export function openAgentServers(setup: HubSetup): AgentServers {
  const servers = new ConfigServers(setup);
  void servers.start();
  const watch = followConfig(setup, (config) => servers.change(config));
  return {
    servers,
    close: async () => {
      await Promise.all([watch.close(), servers.close()]);
    },
  };
}

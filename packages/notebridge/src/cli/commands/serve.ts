import { resolve } from 'node:path';
import { Command, Option } from 'commander';
import { clusterOption } from '../cluster/cluster-option.js';
import { addOptions, collect, parseHubName, parseMilliseconds, parsePort, sharedOptions } from '../command-options.js';
import type { ServeOptions } from '../serve/run-serve.js';

/** `notebridge serve`: the hub as a service, every door on one port. */
export function serveCommand(): Command {
  const { config, kernel, sandbox, files, allowNet, codeMode, list, noBrowser, noJournal, logLevel } = sharedOptions;
  const command = new Command('serve').description('the hub as a service: tools over HTTP for code, MCP over HTTP for agents, on one port');
  return addOptions(command, [
    config(),
    new Option('--port <number>', 'port of everything; 0 for any free one').default(8765).argParser(parsePort),
    new Option('--host <address>', 'address to listen on (default: loopback, both families)'),
    new Option('--name <name>', 'what your commands call this hub where several of yours run: --hub NAME (default: hub)').argParser(
      parseHubName,
    ),
    new Option('--no-auth', 'ask for no token; on loopback only, and any program that can reach the port can call every tool'),
    new Option(
      '--notebook <where>',
      '"colab", "local" (built in), "jupyter[=ADDRESS]" (your JupyterLab), an .ipynb file, the URL of a Colab notebook, or "none"',
    ).default('colab'),
    kernel(),
    sandbox(),
    files(),
    allowNet(),
    codeMode(),
    list(),
    noBrowser(),
    noJournal(),
    new Option('--allow-host <host>', 'answer to this host name too (repeatable, exact)').default([], 'none').argParser(collect),
    new Option('--allow-origin <origin>', 'answer web pages of this origin (repeatable, exact)').default([], 'none').argParser(collect),
    new Option(
      '--servers-ready-ms <ms>',
      'how long /readyz says no for a server that is slow to start with the hub (default: 10000)',
    ).argParser(parseMilliseconds),
    new Option(
      '--shared-dir <dir>',
      'folder shared with kernels: bindings are kept in its "generated", skills are read from its "skills"',
    ).argParser((dir) => resolve(dir)),
    new Option(
      '--record <file>',
      'write what is said with servers and pages to a new file, without secrets; "notebridge replay" serves it',
    ).argParser((file) => resolve(file)),
    clusterOption(
      '--cluster <urls>',
      'share the work with other hubs over this NATS, such as nats://host:4222; more of it is in the config',
    ),
    logLevel(),
  ]).action(async (options: ServeOptions) => {
    const { runServe } = await import('../serve/run-serve.js');
    await runServe(options);
  });
}

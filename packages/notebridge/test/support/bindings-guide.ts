import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { loadConfig } from '../../src/config/load-config.js';
import { withCommand } from './installed-command.js';
import { installedServer, ServedHub } from './served-hub.js';
import { typeFaults } from './type-check.js';

const runCell = fileURLToPath(new URL('../fixtures/run-cell.py', import.meta.url));

/**
 * What the guides about bindings do, step by step: one hub with a shared folder, which the first step that needs it starts, and code
 * beside that folder.
 */
export class BindingsGuide implements AsyncDisposable {
  readonly #folder: string;
  #served: Promise<ServedHub> | undefined;

  /** `folder` is where the reader's shell stands. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** What is done with the snippets of each name. */
  readonly runs: Record<string, (code: string) => Promise<void>> = {
    'bindings-config': async (code) => {
      const file = join(this.#folder, 'servers.json');
      writeFileSync(file, code);
      const { servers } = await loadConfig({ file, env: { HOME: this.#folder } });
      const packages = servers.map((server) => (server.transport === 'stdio' ? server.args?.[1] : undefined));
      expect(servers.map(({ name }) => name)).toEqual(['fs', 'everything']);
      // Those that are installed here; see `#hub`.
      expect(packages).toEqual(['@modelcontextprotocol/server-filesystem', '@modelcontextprotocol/server-everything']);
    },
    'bindings-serve': async (code) => {
      expect(code).toBe('notebridge serve --shared-dir shared');
      const hub = await this.#hub();
      expect(hub.log()).toContainEqual(expect.objectContaining({ msg: 'Bindings written.', servers: 2 }));
    },
    // test/e2e/two-containers.test.ts runs it in a real Jupyter server.
    'bindings-jupyter': async (code) => {
      expect(code).toMatch(/ jupyter lab$/);
      await this.#shell(code.replace('jupyter lab', 'python3 -c "from generated.mcp.everything import echo"'));
    },
    'bindings-both': async (code) => {
      const steps = code.split('\n').map((line) => line.replace(/ +#.*/, ''));
      expect(steps).toHaveLength(2);
      await this.runs['bindings-serve']?.(steps[0] ?? '');
      await this.runs['bindings-jupyter']?.(steps[1] ?? '');
    },
    'bindings-cell': (code) => this.#cell(code),
    'bindings-skill': async (code) => {
      await this.#shell(code);
    },
    'bindings-grant': async (code) => {
      const { stdout } = await this.#shell(`${code}\necho $NOTEBRIDGE_TOKEN`);
      const env = { NOTEBRIDGE_TOKEN: stdout.trim() };
      await this.#cell('from generated.mcp.everything import echo\nawait echo(message="hello")  # \'Echo: hello\'', env);
      const refused = this.#cell('from generated.mcp.everything import get_env\nawait get_env()', env);
      await expect(refused).rejects.toThrow(/ToolError: get-env \(everything\): .*everything:echo/);
    },
    'bindings-generate': (code) => this.#generate(code),
    'bindings-archive': async (code) => {
      mkdirSync(join(this.#folder, 'fetched'), { recursive: true });
      await this.#shell(`cd fetched\nexport NOTEBRIDGE_TOKEN=$(notebridge grant --allow 'everything:echo')\n${code}`);
      expect(existsSync(join(this.#folder, 'fetched/generated/mcp/everything/echo.py'))).toBe(true);
      expect(existsSync(join(this.#folder, 'fetched/generated/mcp/fs'))).toBe(false);
    },
    'bindings-node': async (code) => {
      const { stdout } = await this.#module(code);
      expect(stdout).toMatch(/^Echo: hello\nEcho: hello string\ntool_failed .*denied/);
    },
    // test/e2e/bindings-typescript.test.ts does the same in Chromium.
    'bindings-page': async (code) => {
      const hub = await this.#hub();
      const { token } = await hub.grant('--allow', 'everything:*');
      const { stdout } = await this.#module(code, (text) => {
        expect(text).toContain("token: 'nbg_…'");
        return `globalThis.document = {};\n${text.replace('nbg_…', token).replace('8765', String(hub.port))}\nconsole.log(document.title);`;
      });
      expect(stdout).toBe('Echo: hello\n');
    },
    'reference-serve': async (code) => {
      const [, command = '', ...args] = code.split(' ');
      expect([command, args]).toEqual(['serve', ['--no-auth', '--shared-dir', '/mnt/shared-agent']]);
      const shared = join(this.#folder, 'shared-agent');
      const servers = { everything: installedServer('everything') };
      await using hub = await ServedHub.start({ servers, args: ['--notebook', 'none', ...args.slice(0, -1), shared] });
      await hub.logged('Bindings written.');
      expect(existsSync(join(shared, 'generated/mcp/everything/echo.py'))).toBe(true);
      const proxy = '/api/v1/mcp/proxy';
      for (const path of ['everything/tools/echo', 'everything/echo']) {
        const response = await hub.request(`${proxy}/${path}`, { body: { arguments: { message: 'hi' } } });
        expect(await response.json()).toMatchObject({ success: true, result: 'Echo: hi', error: null, is_error: false });
      }
      expect(await (await hub.request(`${proxy}/servers`)).json()).toMatchObject({ total: 2 });
      expect(await (await hub.request(`${proxy}/health`)).json()).toEqual({ status: 'ok' });
    },
  };

  async [Symbol.asyncDispose](): Promise<void> {
    await (await this.#served?.catch(() => undefined))?.[Symbol.asyncDispose]();
  }

  /** The servers of the config, as they are installed here. */
  #hub(): Promise<ServedHub> {
    this.#served ??= (async () => {
      const servers = { fs: installedServer('filesystem', ['${HOME}']), everything: installedServer('everything') };
      const args = ['--notebook', 'none', '--shared-dir', join(this.#folder, 'shared')];
      const hub = await ServedHub.start({ servers, args });
      await hub.until(() => hub.log().some(({ msg, servers }) => msg === 'Bindings written.' && servers === 2));
      return hub;
    })();
    return this.#served;
  }

  /** A shell of the hub's user. */
  async #shell(code: string): Promise<{ stdout: string }> {
    const hub = await this.#hub();
    return promisify(execFile)('bash', ['--norc', '-euc', code.replaceAll('8765', String(hub.port))], {
      cwd: this.#folder,
      env: withCommand(hub.env, this.#folder),
    });
  }

  /** A cell of a notebook; what stands in comments behind expressions is held against their values. */
  async #cell(code: string, more: Record<string, string> = {}): Promise<void> {
    const hub = await this.#hub();
    const env = { ...hub.env, PYTHONPATH: join(this.#folder, 'shared'), PYTHONUTF8: '1', ...more };
    const ran = promisify(execFile)('python3', [runCell], { cwd: this.#folder, env });
    ran.child.stdin?.end(code);
    await ran;
  }

  /** Once as it stands; both packages are there then. */
  async #generate(code: string): Promise<void> {
    await this.#shell(code);
    expect(existsSync(join(this.#folder, 'generated/mcp/fs/list_directory.py'))).toBe(true);
    expect(existsSync(join(this.#folder, 'web/generated/mcp/fs.js'))).toBe(true);
  }

  /** A module beside `web/generated`, held against the types and run in Node as the hub's user. */
  async #module(code: string, toRun = (text: string) => text): Promise<{ stdout: string }> {
    const hub = await this.#hub();
    const web = join(this.#folder, 'web');
    await this.#shell('notebridge generate --lang typescript --out web/generated');
    writeFileSync(join(web, 'package.json'), '{"type":"module"}');
    writeFileSync(join(web, 'main.ts'), code);
    expect(typeFaults([join(web, 'main.ts')])).toEqual([]);
    writeFileSync(join(web, 'main.js'), toRun(code));
    return promisify(execFile)(process.execPath, [join(web, 'main.js')], { env: hub.env });
  }
}

import { execFile } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { hangsAfterMs } from '../support/hangs-after.js';
import { deployFolder } from '../support/manifests.js';
import { issuer, openTimeoutMs, serverKey, TwoContainers } from '../support/two-containers.js';
import { linesOf } from '../support/upstreams.js';

let both: TwoContainers;
const print = (...lines: string[]): Promise<string> => both.jupyter.print(lines.join('\n'));
const json = async (...lines: string[]): Promise<unknown> => JSON.parse(await print('import json', ...lines));

describe('the hub in one container, a real Jupyter in another', { timeout: 240_000 }, () => {
  beforeAll(async () => {
    both = await TwoContainers.open();
    const { isolated, why } = both.sides;
    process.stderr.write(
      `two containers: ${isolated ? 'network namespaces joined by a veth pair' : `two process groups on loopback, since ${why}`}\n`,
    );
  }, openTimeoutMs);
  afterAll(() => both?.[Symbol.asyncDispose](), 60_000);

  it('share one wire and one folder, and see nothing else of one another', { tags: ['P-123'] }, async ({ skip }) => {
    skip(!both.sides.isolated, `there are no two containers here: ${both.sides.why}`);
    const routes = await print('print(open("/proc/net/route").read())');
    expect(
      routes
        .split('\n')
        .slice(1)
        .map((line) => line.split('\t').slice(0, 3)),
    ).toEqual([['eth0', '00004D0A', '00000000']]);
    const processes = await print('import subprocess', 'print(subprocess.run(["ps", "ax"], capture_output=True, text=True).stdout)');
    expect(processes).toContain('ipykernel');
    expect(processes).not.toMatch(/notebridge\.js|mcp|learns/);
    expect(await json('import os', `print(json.dumps([os.listdir(${JSON.stringify(both.hub.home)}), os.listdir("/mnt")]))`)).toEqual([
      [],
      expect.arrayContaining(['shared-agent', 'grant', 'home']),
    ]);
    expect(both.hub.log()).toContainEqual(expect.objectContaining({ level: 'warn', msg: expect.stringContaining('without encryption') }));
  });

  it('nobody calls a tool without a grant, whatever they show and under whatever name', { tags: ['P-125'] }, async () => {
    const answers = await json(
      'import os, urllib.request, urllib.error',
      'hub = os.environ["NOTEBRIDGE_URL"]',
      'def ask(path, token=None, body=None, host=None):',
      '    headers = {"Content-Type": "application/json"}',
      '    if token: headers["Authorization"] = "Bearer " + token',
      '    if host: headers["Host"] = host',
      '    request = urllib.request.Request(hub + path, data=body, headers=headers)',
      '    try:',
      '        return urllib.request.urlopen(request, timeout=20).status',
      '    except urllib.error.HTTPError as error:',
      '        return error.code',
      'call = "/api/v1/mcp/proxy/everything/tools/echo"',
      'body = b\'{"arguments":{"message":"hi"}}\'',
      'own = open(os.environ["NOTEBRIDGE_TOKEN_FILE"]).read().strip()',
      'print(json.dumps([',
      '    ask("/api/v1/mcp/proxy/health"), ask(call, own, body),',
      '    ask(call, None, body), ask(call, "nbg_" + "x" * 43, body), ask("/api/v1/mcp/proxy/servers"), ask("/mcp", own, b"{}"),',
      '    ask("/api/v1/hub/servers", own), ask(call, own, body, "evil.example"),',
      ']))',
    );
    expect(answers).toEqual([200, 200, 401, 401, 401, 403, 403, 403]);
  });

  it('a cell imports the bindings from the shared folder, and calls tools of two servers', { tags: ['deep'] }, async () => {
    const file = join(both.folder, 'files', 'hello.txt');
    const found = await json(
      'import generated',
      'from generated.mcp.filesystem import read_text_file',
      'from generated.mcp.everything import get_sum, echo',
      `read = await read_text_file(path=${JSON.stringify(file)})`,
      'print(json.dumps([generated.__file__, read, await get_sum(a=20, b=22), echo.sync(message="hi")]))',
    );
    expect(found).toEqual([
      expect.stringContaining(both.paths.shared),
      { content: 'Hello from the hub.' },
      expect.stringContaining('42'),
      'Echo: hi',
    ]);
  });

  it('an image of a tool is shown in the notebook', { tags: ['deep', 'P-159'] }, async () => {
    const { shown, error } = await both.jupyter.run(
      [
        'from IPython.display import display',
        'from generated.mcp.everything import get_tiny_image',
        'blocks = await get_tiny_image()',
        'image = next(block for block in blocks if hasattr(block, "mime_type"))',
        'display(image)',
      ].join('\n'),
    );
    expect(error).toBe('');
    expect(shown).toHaveLength(1);
    expect(Buffer.from(String(shown[0]?.['image/png']), 'base64').subarray(1, 4).toString()).toBe('PNG');
  });

  it.each([
    ['awaited', 'await wait'],
    ['not awaited', 'wait.sync'],
  ])(
    'interrupting the kernel cancels a call that is %s at its server, and the kernel goes on',
    { tags: ['deep', 'P-085'] },
    async (way, call) => {
      const key = `${way} ${randomUUID()}`;
      const cell = both.jupyter.begin(`from generated.mcp.learns import wait\nkept = 7\n${call}(key=${JSON.stringify(key)})`);
      await vi.waitFor(() => expect(linesOf(both.notes)).toContain(`waits ${key}`), hangsAfterMs);
      both.jupyter.interrupt();
      const { error } = await cell.ended;
      expect(error).toMatch(/^(KeyboardInterrupt|CancelledError)/);
      await vi.waitFor(() => expect(linesOf(both.notes)).toContain(`cancelled ${key}`), hangsAfterMs);
      expect(await print('from generated.mcp.everything import echo', 'print(kept, await echo(message="still here"))')).toBe(
        '7 Echo: still here',
      );
    },
  );

  it('a grant refuses what it does not allow, and the error names the rule', { tags: ['deep'] }, async () => {
    const path = join(both.folder, 'files', 'never.txt');
    const refused = await json(
      'from generated.client import ToolError',
      'from generated.mcp.filesystem import write_file',
      'try:',
      `    await write_file(path=${JSON.stringify(path)}, content="x")`,
      'except ToolError as error:',
      '    print(json.dumps([error.code, error.server, error.tool, str(error)]))',
    );
    expect(refused).toEqual(['denied', 'filesystem', 'write_file', expect.stringContaining('filesystem:read_*')]);
    expect(() => readFileSync(path)).toThrow(/ENOENT/);
  });

  it('a token that has ended is read anew from its file, and the kernel notices nothing', { tags: ['P-094'] }, async () => {
    const listed = JSON.parse((await both.hub.run('grant', 'list', '--json')).stdout) as { grants: { id: string }[] };
    await both.hub.run('grant', 'revoke', ...listed.grants.map(({ id }) => id));
    await both.hub.run('grant', '--file', join(both.folder, 'grant', 'token'), '--allow', 'everything:*', '--allow', 'learns:*');
    expect(await print('from generated.mcp.everything import echo', 'print(await echo(message="with the new one"))')).toBe(
      'Echo: with the new one',
    );
  });

  it('the environment, the files and the processes that a kernel sees hold no key of a server, and no token of the owner', {
    tags: ['P-123'],
  }, async () => {
    // The kernel is told digests alone: what it looks for must not be what it finds. Its own token is there to be found.
    const own = readFileSync(join(both.folder, 'grant', 'token'), 'utf8').trim();
    const digests = [serverKey, both.hub.ownerToken, own].map((secret) => [
      secret.length,
      createHash('sha256').update(secret).digest('hex'),
    ]);
    const found = await json(
      'import os, hashlib',
      `wanted = ${JSON.stringify(digests)}`,
      'def holds(data):',
      '    return any(hashlib.sha256(data[i:i + n]).hexdigest() == digest for n, digest in wanted for i in range(max(0, len(data) - n + 1)))',
      'texts = {"env": "\\n".join(os.environ.values()).encode()}',
      `for root in ${JSON.stringify([both.paths.shared, both.paths.grant, both.paths.home])}:`,
      '    for folder, _, names in os.walk(root, followlinks=False):',
      '        for name in names:',
      '            if not name.endswith((".pyc", ".sqlite")):',
      '                texts[os.path.join(folder, name)] = open(os.path.join(folder, name), "rb").read()',
      ...(both.sides.isolated
        ? [
            'for pid in filter(str.isdigit, os.listdir("/proc")):',
            '    texts["environ of " + pid] = open("/proc/" + pid + "/environ", "rb").read()',
          ]
        : []),
      'print(json.dumps([name for name, data in texts.items() if holds(data)]))',
    );
    expect(found).toEqual([`${both.paths.grant}/token`]);
    expect(both.hub.stdout + both.hub.stderr).not.toContain(serverKey);
  });

  it('a tool that a server has learned can be imported, and what was imported before is still good', { tags: ['deep'] }, async () => {
    const written = (): number => both.hub.log().filter(({ msg }) => msg === 'Bindings written.').length;
    const before = written();
    const name = `juggle_${Date.now()}`;
    expect(await print('from generated.mcp.learns import learn', `print(await learn(name="${name}"))`)).toBe('learned');
    await both.hub.until(() => written() > before);
    expect(
      await json(
        'import importlib, generated',
        'importlib.reload(generated)',
        `from generated.mcp.learns import ${name}`,
        `print(json.dumps([await ${name}(), await learn(name="${name}_too")]))`,
      ),
    ).toEqual([`I am ${name}.`, 'learned']);
  });

  it('a restart of the hub is survived: the kernel keeps its imports and a token file, and the next call works', {
    tags: ['deep', 'P-095'],
  }, async () => {
    await print('from generated.mcp.everything import echo', 'from generated.client import ToolError', 'kept = 8');
    await both.restartHub(async () => {
      const away = await json(
        'try:',
        '    await echo(message="x")',
        'except ToolError as error:',
        '    print(json.dumps([error.code, str(error)]))',
      );
      expect(away).toEqual(['hub_unreachable', expect.stringContaining(new URL(both.url).host)]);
    });
    expect(await print('print(kept, await echo(message="back"))')).toBe('8 Echo: back');
  });

  it('a pod without the folder trades its own token for a grant, fetches the bindings of what that allows, and calls', {
    tags: ['deep'],
  }, async () => {
    writeFileSync(join(both.folder, 'home', 'service-account'), issuer.sign());
    const { home } = both.paths;
    const python =
      'import generated.mcp as m; from generated.mcp.everything import echo, __all__; print(echo.sync(message="pod"), m.__all__, __all__)';
    const printed = await print(
      'import os, subprocess, sys',
      `own = {"SERVICE_ACCOUNT_TOKEN_FILE": "${home}/service-account", "NOTEBRIDGE_TOKEN_FILE": "${home}/traded", "BINDINGS_DIR": "${home}/pod"}`,
      'env = {**os.environ, **own, "PYTHONPATH": own["BINDINGS_DIR"]}',
      'os.makedirs(own["BINDINGS_DIR"], exist_ok=True)',
      'programs = []',
      'def start(name):',
      `    programs.append(subprocess.Popen([sys.executable, ${JSON.stringify(deployFolder)} + "/" + name], env=env, stderr=subprocess.PIPE, text=True))`,
      '    return programs[-1].stderr.readline().strip()',
      'try:',
      '    print(start("exchange.py"))',
      '    print(start("bindings.py"))',
      `    print(subprocess.run([sys.executable, "-c", ${JSON.stringify(python)}], env=env, capture_output=True, text=True, timeout=60))`,
      'finally:',
      '    for program in programs: program.kill()',
    );
    expect(printed).toContain(`exchange: the token in ${home}/traded is good for `);
    expect(printed).toContain(`files in ${home}/pod/generated`);
    expect(printed).toContain(`stdout="Echo: pod ['everything'] ['echo']\\n"`);
  });

  it("the image's health check says how the hub is, from its own container", { tags: ['deep'] }, async () => {
    const check = () => {
      const [command = '', ...args] = [...both.sides.hub.launch, process.execPath, join(deployFolder, 'healthy.mjs'), both.hub.url];
      return promisify(execFile)(command, args).then(
        () => 'healthy',
        ({ code }) => code,
      );
    };
    expect(await check()).toBe('healthy');
    await both.restartHub(async () => expect(await check()).toBe(1));
  });
});

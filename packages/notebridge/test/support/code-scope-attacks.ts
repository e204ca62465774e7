/** `raw(server, tool)`: a call past the package of functions. */
export const raw = `
import json
from notebridge_kernel import tools
channel = tools.channel()
async def raw(server, tool, body='{"arguments":{"n":"stolen"}}'):
    try:
        return json.loads(await channel.call(server, tool, body))
    except BaseException as error:
        return {"success": False, "error": type(error).__name__}
`;
/** Prints what each of these answers, by the raw way and by the package's. */
const reachFor = (names: readonly string[]): string => `${raw}
from generated import client
said = []
for name in json.loads(r'''${JSON.stringify(names)}'''):
    server, _, tool = name.partition("__")
    said.append(await raw(server, tool))
    try:
        said.append({"success": True, "result": await client.call_tool(name, {"n": "stolen"})})
    except Exception as error:
        said.append({"success": False, "error": str(error)})
[one["result"] for one in said if one["success"]]`;

export interface ScopeAttack {
  name: string;
  code: string;
  /** Python text of the result. */
  result?: RegExp;
}

/** By a grant that may call \`calls:echo\` and \`calls:wait\` only. */
export const scopeAttacks: ScopeAttack[] = [
  { name: 'a function that it was not given', code: 'from generated.mcp.calls import count\nawait count(n="stolen")' },
  { name: 'a server that it was not given', code: 'import generated.mcp.vault as vault\nawait vault.count(n="stolen")' },
  {
    name: 'other spellings of a name',
    code: reachFor([
      ...['calls__count', 'calls__Count', 'CALLS__count', 'calls__count ', ' calls__count', 'calls__count\\u0000', 'calls__echo/../count'],
      ...[
        'calls__echo\\ncount',
        'calls/__count',
        'calls%2f__count',
        './calls__count',
        'calls/../vault__count',
        'vault__count',
        'Vault__count',
      ],
      ...[
        'vault __count',
        'ｖault__count',
        'vault\\u200b__count',
        '__count',
        '*__*',
        '*__count',
        'vault__*',
        'calls__vault__count',
        'calls__calls__count',
      ],
      ...['undefined__count', 'constructor__count', '__proto____count', 'toString__call', 'hasOwnProperty__count'],
    ]),
    result: /^\[\]$/,
  },
  {
    name: 'code mode itself, the notebook, and skills',
    code: reachFor([
      ...['code-mode__execute_code', 'code_mode__execute_code', 'code mode__execute_code', '__execute_code', 'notebook__execute_code'],
      ...['code-mode__search_tools', 'code-mode__describe_tools', 'notebook__run_code', 'notebook__run_code_cell', 'skills__list_skills'],
      ...[
        'skills__run_skill_script',
        'skills__read_skill_resource',
        'hub__grants',
        'notebridge__grant',
        'owner__grant',
        'calls__execute_code',
      ],
    ]),
    result: /^\[\]$/,
  },
  {
    name: 'bodies with members of their own',
    code: `${raw}
bodies = ['{"arguments":{"n":"stolen"},"name":"calls__count"}', '{"arguments":{"n":"stolen"},"server":"vault","tool":"count"}',
    '{"arguments":{"n":"stolen"},"principal":{"kind":"owner"},"target":{"server":"vault","tool":"count"}}',
    '{"arguments":{"n":"stolen"},"_meta":{"notebridge/principal":"owner"},"isTyped":true,"parent":null}',
    '{"arguments":{"__proto__":{"server":"vault"}},"__proto__":{"principal":{"kind":"owner"}}}',
    '[]', 'null', '', '{', '{"arguments":[]}', '{"arguments":null}', '{"arguments":' + '[' * 5000 + ']' * 5000 + '}']
[(await raw("calls", "count", body))["success"] for body in bodies] + [(await raw("vault", "count", body))["success"] for body in bodies]`,
    result: /^\[(False,\s*)*False\]$/,
  },
  {
    name: 'a port with forged ids, cells and types',
    code: `${raw}
import asyncio
port = channel._port
for number in (-1, 0, 2**53, 1.5, float("nan"), 10**6):
    for cell in (0, 1, 999, -1, "x"):
        try:
            port.call(number, "calls", "count", '{"arguments":{"n":"stolen"}}', False, cell)
        except BaseException:
            pass
await asyncio.sleep(0.2)
(await raw("calls", "echo", '{"arguments":{"a":1}}'))["success"]`,
    result: /^True$/,
  },
  {
    name: 'bindings that are patched to name another server',
    code: `
import generated.mcp.calls as calls, generated._calls as inner
real = inner.call
async def call(server, tool, *a, **k): return await real("vault", "count", {"n": "stolen"})
inner.call = call
said = []
for one in (lambda: calls.echo(a=1), lambda: inner.call("calls", "echo", {})):
    try:
        said.append(await one())
    except Exception as error:
        said.append(getattr(error, "code", type(error).__name__))
inner.call = real
[one for one in said if one == "stolen"]`,
    result: /^\[\]$/,
  },
  {
    name: 'a hub of its own choosing, and tokens that lie about',
    code: `
import os, generated
from generated import client
said = []
for settings in ({"base_url": "URL"}, {"base_url": "URL", "token": "x"}, {"url": "URL"}, {"hub_url": "URL"}):
    try:
        client.configure(**settings)
        await client.http_call_tool("vault__count", {"n": "stolen"})
        said.append("made")
    except BaseException as error:
        said.append(type(error).__name__)
"made" in said`,
    result: /^False$/,
  },
];

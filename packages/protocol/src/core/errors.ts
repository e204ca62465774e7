import type { JsonObject } from '../json.js';

/**
 * Every error of ours, by its code. `rpcCode` is what a protocol peer sees (ours stay in -32000 … -32019, the spec
 * reserves the rest); `meaning` and `next` are what docs/errors.md says, and a test holds the two together.
 */
export const errorTable = {
  bad_message: {
    rpcCode: -32600,
    meaning: 'A frame or line is not a JSON-RPC message.',
    next: 'Send one JSON-RPC 2.0 object per line or text frame.',
  },
  bad_json: { rpcCode: -32700, meaning: 'A frame or line is not JSON.', next: 'Send UTF-8 JSON, one message per line or text frame.' },
  bad_params: {
    rpcCode: -32602,
    meaning: 'The parameters of a request have the wrong shape.',
    next: 'Fix the parameter that the message names.',
  },
  unknown_tool: { rpcCode: -32602, meaning: 'No provider offers a tool of that name.', next: 'Call `tools/list` and use a name from it.' },
  unknown_method: {
    rpcCode: -32601,
    meaning: 'Nothing behind this door handles that method.',
    next: 'Use a method of the protocol version that was agreed.',
  },
  unsupported_version: {
    rpcCode: -32022,
    meaning: 'The request names a protocol version that is not served.',
    next: 'Use one of `data.supported`.',
  },
  missing_capability: {
    rpcCode: -32021,
    meaning: 'The request needs a capability or extension that the agent did not declare with it.',
    next: 'Declare what `data.requiredCapabilities` names, in the `_meta` of the request.',
  },
  unanswered_question: {
    rpcCode: -32017,
    meaning: 'A server asked the agent something in the middle of a call (a form, a sample of its model, its roots) and got no answer.',
    next: 'Call it from an agent that can be asked, or give the call what it asked for.',
  },
  unexpected_answer: {
    rpcCode: -32000,
    meaning: 'An answer came with an id that no call waits for: answered twice, too late, or never asked.',
    next: 'None needed: it was dropped. If it repeats, fix the page.',
  },
  message_too_large: {
    rpcCode: -32001,
    meaning: 'A message is larger than the limit.',
    next: 'Send less at once, or raise `notebridge.limits.maxMessageBytes`.',
  },
  message_too_deep: { rpcCode: -32001, meaning: 'A message is nested too deeply to be printed.', next: 'Send flatter data.' },
  limit_reached: {
    rpcCode: -32015,
    meaning: 'A limit on calls, sessions or frames is reached.',
    next: 'Wait for running calls to end, or raise the limit that the message names.',
  },
  timeout: {
    rpcCode: -32003,
    meaning: 'No answer came in time.',
    next: 'Look at the notebook: the work may still be running there. Raise `notebridge.limits.callTimeoutMs` if it needs longer.',
  },
  cancelled: { rpcCode: -32004, meaning: 'The caller cancelled the call, or went away.', next: 'None needed.' },
  page_gone: {
    rpcCode: -32005,
    meaning: 'The notebook page went away while the call ran. Its outcome is unknown; it was not repeated.',
    next: 'Read the cells with `get_cells`, then decide whether to call again.',
  },
  not_connected: {
    rpcCode: -32006,
    meaning: 'No notebook page is connected.',
    next: 'Call `open_colab_browser_connection`, or open the URL that it returns.',
  },
  not_ours: {
    rpcCode: -32007,
    meaning: 'What listens where a private file of the user says did not prove that it is the user’s own Notebridge.',
    next: 'None needed for a broker: another one is started. If it repeats, run `notebridge doctor`.',
  },
  host_silent: {
    rpcCode: -32007,
    meaning: 'The process that holds the notebooks of the user runs, and does not answer.',
    next: 'Try again. If it stays so, end that process, whose number the message names: it saves first.',
  },
  other_version: {
    rpcCode: -32007,
    meaning: 'The notebooks of the user are held by another version of Notebridge.',
    next: 'Run `notebridge stop all`, which saves everything; the next call starts the version that is asked for.',
  },
  disconnected: {
    rpcCode: -32006,
    meaning: 'A person disconnected this agent from the notebook. The notebook goes on.',
    next: 'The person restarts this MCP server in the agent’s host, if the agent is to come back.',
  },
  held: {
    rpcCode: -32006,
    meaning: 'Another agent holds the notebook, and alone changes and runs it; or a person took it away from this one. Nothing was done.',
    next: 'Read, or call `take_over`, which asks the person at the notebook.',
  },
  not_saved: {
    rpcCode: -32014,
    meaning: 'Ending a notebook would lose what is in no file.',
    next: 'Save it in its window, or end it with `notebridge stop --force`.',
  },
  handshake_failed: {
    rpcCode: -32007,
    meaning: 'A page connected but did not answer `initialize` in time, or not with a version we know.',
    next: 'Reload the page; see the log for what it answered.',
  },
  closed: { rpcCode: -32008, meaning: 'The hub, session or connection is closed.', next: 'Start it again.' },
  not_started: { rpcCode: -32009, meaning: 'Something was used before it was started.', next: 'Await its `start` method first.' },
  port_in_use: {
    rpcCode: -32010,
    meaning: 'The port asked for is taken.',
    next: 'End the program that the message names, choose another `--port`, or leave it out.',
  },
  bad_origin: {
    rpcCode: -32602,
    meaning: 'A notebook URL is not on an origin that its profile allows. The URL carries a token, so it is not opened.',
    next: 'Use a URL on an origin that the message names.',
  },
  bad_config: {
    rpcCode: -32011,
    meaning: 'A config file is missing, not JSON, or has a wrong key or value.',
    next: 'Fix the file at the line and key that the message names.',
  },
  which_notebook: {
    rpcCode: -32602,
    meaning: 'An agent uses several notebooks, or none, and its call does not say which one is meant. Nothing was called.',
    next: 'Give the call `notebook`, an id that the message names, or select one with `connect_notebook`.',
  },
  bad_usage: { rpcCode: -32012, meaning: 'The command line has an unknown command, option or value.', next: 'Run `notebridge --help`.' },
  bad_middleware: {
    rpcCode: -32013,
    meaning: 'A middleware module could not be loaded, or does not export a middleware.',
    next: 'Export a middleware object, or a function that makes one, as default.',
  },
  bad_notebook: {
    rpcCode: -32016,
    meaning: 'A notebook file cannot be opened: it is no notebook, of an old format, broken, too large, not readable, or open elsewhere.',
    next: 'Fix the place that the message names, or choose another file. The file was not changed.',
  },
  sandbox_unavailable: {
    rpcCode: -32016,
    meaning:
      'A sandbox is required for the code of the built-in notebook (`--sandbox=require`, `--files`, `--allow-net`), and none works here.',
    next: 'Do what the message says; `notebridge doctor` tries it again. Or choose `--sandbox=auto`, and know what is missing.',
  },
  nothing_to_undo: {
    rpcCode: -32602,
    meaning: 'No change of the agent is remembered that could be taken back.',
    next: 'None needed. To change cells, call the tools that do.',
  },
  changed_since: {
    rpcCode: -32602,
    meaning: 'What the agent left there has been changed since, so its change is not taken back. Nothing was changed.',
    next: 'Read the cells with `get_cells`; change them only if the person wants that.',
  },
  unknown_server: {
    rpcCode: -32602,
    meaning: 'There is no server of that name.',
    next: 'Use a name that the message lists, or add the server to the config.',
  },
  upstream_unavailable: {
    rpcCode: -32017,
    meaning: 'An MCP server could not be started or reached, or ended while the call ran.',
    next: 'Run `notebridge servers`: it says why. Whether a call that ran had an effect is unknown; it was not repeated.',
  },
  cluster_unavailable: {
    rpcCode: -32007,
    meaning:
      'This hub cannot reach the NATS servers of its cluster, or has lost its place there. What only the cluster can decide was not done.',
    next: 'Wait: it connects again by itself. If it stays so, run `notebridge doctor --config FILE` with the config of that hub.',
  },
  hub_gone: {
    rpcCode: -32017,
    meaning:
      'The hub that ran the call ended or fell silent in the middle. Whether the call had an effect is unknown; it was not repeated.',
    next: 'Look at what the call was to do, then decide whether to call again. In a cluster `notebridge ps --cluster` says which hubs are there.',
  },
  login_required: {
    rpcCode: -32017,
    meaning: 'A remote MCP server asks for a login by OAuth, or for more rights than the login has. The call was not run.',
    next: 'A person runs `data.command` (`notebridge login SERVER`) in a terminal, and the call is made again; nothing needs a restart.',
  },
  invalid_arguments: {
    rpcCode: -32602,
    meaning: 'The arguments of a tool call are not an object, or the server refused them.',
    next: 'Look at the input schema of the tool: `notebridge tools SERVER TOOL`.',
  },
  result_too_large: {
    rpcCode: -32018,
    meaning: 'The result of a tool is larger than the limit.',
    next: 'Ask for less at once, or raise `notebridge.limits.maxResultBytes`.',
  },
  bad_recording: {
    rpcCode: -32016,
    meaning: 'A file is no recording, is broken, or was written in a format that this version does not read.',
    next: 'Look at the line that the message names, or have the session recorded again.',
  },
  not_recorded: {
    rpcCode: -32602,
    meaning: 'A replayed server was asked for something that is not in its recording, or got no answer when it was recorded.',
    next: 'Do what was recorded: the message names the nearest line. Or record the session again.',
  },
  skills_failed: {
    rpcCode: -32017,
    meaning: 'The function that a program has set with `setSkillsProxyCaller` threw.',
    next: 'Read the message: it is that of the function.',
  },
  session_gone: {
    rpcCode: -32602,
    meaning: 'The session that a call of `execute_code` names is not there, or is another agent’s. Nothing was run.',
    next: 'Leave `session` out, and set up again what the code needs.',
  },
  skill_exists: {
    rpcCode: -32602,
    meaning: 'A skill of that name is there already. Nothing was saved.',
    next: 'Take another name, or pass `overwrite` for one of your own.',
  },
  skill_changed: {
    rpcCode: -32602,
    meaning:
      'The files of a saved skill are not those that were saved, or it was saved anew since its owner read it. It was neither run nor trusted.',
    next: 'Save it again with `overwrite`, or delete it; read it again before you trust it.',
  },
  skill_failed: {
    rpcCode: -32602,
    meaning: 'The tests of a skill failed, or its code is no Python. It was not saved.',
    next: 'Read the message, which has the line, and correct the code or the tests.',
  },
  unknown_run: {
    rpcCode: -32602,
    meaning: 'The run that a call of `execute_code` asks for is not known (any more), or is another agent’s.',
    next: 'Look at what the code was to do before it is run again.',
  },
  execution_conflict: {
    rpcCode: -32602,
    meaning: 'The `execution_id` of a call stands for other code already. Nothing was run.',
    next: 'Give each execution an id of its own.',
  },
  answer_gone: {
    rpcCode: -32602,
    meaning: 'The execution of that `execution_id` has run, and its answer is not kept any more. It was not run again.',
    next: 'Look at what the code was to do. Give other code another id.',
  },
  kernel_failed: {
    rpcCode: -32016,
    meaning: 'The Python of `execute_code` could not be started, or died. The code was not run again.',
    next: 'Look at the calls that the answer lists: what they did stands. `notebridge doctor` says whether a Python starts here.',
  },
  bad_grant: {
    rpcCode: -32019,
    meaning: 'A caller gave no token, one that was never issued, or one that is expired or revoked.',
    next: 'Issue one with `notebridge grant`, and send it as `Authorization: Bearer …`.',
  },
  denied: {
    rpcCode: -32019,
    meaning: 'The grant does not allow this call. The message names the rule.',
    next: 'Call something that the grant allows, or have one issued that allows it.',
  },
  not_approved: {
    rpcCode: -32019,
    meaning: 'A person has to approve this call, and did not: declined, no answer in time, or nobody could be asked. It was not made.',
    next: 'Do what the message says. Do not make the call in another way; the person may be asked again if they want it.',
  },
  budget_exhausted: {
    rpcCode: -32019,
    meaning: 'The grant has no calls left, or too many at once or per minute.',
    next: 'Wait if the answer says for how long; otherwise have a new grant issued.',
  },
  write_failed: {
    rpcCode: -32014,
    meaning: 'A file of ours or of an agent host could not be read or written. What was there is unchanged.',
    next: 'Fix the permission or free the space that the message names.',
  },
  internal: {
    rpcCode: -32603,
    meaning: 'A fault of ours. The caller sees no detail; the log has it, with the call id.',
    next: 'Report it, with the log lines of that call id.',
  },
} as const satisfies Record<string, { rpcCode: number; meaning: string; next: string }>;

export type ErrorCode = keyof typeof errorTable;

/** MCP 2026-07-28: a header and the body say different things. Of the spec, so that it is none of the table. */
export const headerMismatchCode = -32020;

/** An error of ours: recognised by `code`, never by its text. */
export class BridgeError extends Error {
  readonly code: ErrorCode;
  readonly data: JsonObject;

  constructor(code: ErrorCode, message: string, options: { data?: JsonObject; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'BridgeError';
    this.code = code;
    this.data = options.data ?? {};
  }
}

/** An error response of a peer, kept as it came: code, message, data and unknown keys. */
export class RemoteError extends Error {
  readonly raw: JsonObject;

  constructor(raw: JsonObject) {
    super(typeof raw.message === 'string' ? raw.message : 'The peer answered with an error');
    this.name = 'RemoteError';
    this.raw = raw;
  }
}

/** The `code` of an error of ours, or undefined for any other. */
export function codeOf(error: unknown): ErrorCode | undefined {
  return error instanceof BridgeError ? error.code : undefined;
}

/**
 * The border to JSON-RPC: what a peer may see of an error. Ours and remote ones pass as they are; anything
 * unexpected shows neither message nor stack; the door has logged them.
 */
export function toRpcError(error: unknown): JsonObject {
  if (error instanceof RemoteError) return error.raw;
  if (error instanceof BridgeError) {
    const { code, message, data } = error;
    // To whom a method is not available at all it does not exist: agents know that code, and try another way.
    const isUnavailable = code === 'denied' && data?.rule === 'method';
    return { code: errorTable[isUnavailable ? 'unknown_method' : code].rpcCode, message, data: { ...data, code } };
  }
  return { code: errorTable.internal.rpcCode, message: 'Internal error', data: { code: 'internal' } };
}

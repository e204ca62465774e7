import { join } from 'node:path';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { quote } from '@notebridge/protocol/util/quote';
import { copyContained, findInCopy } from '@notebridge/system/files/contained-copy';
import { makeOwnScratch } from '@notebridge/system/files/own-scratch';
import { interpreterOf } from '@notebridge/system/processes/interpreters';
import { type ProgramRun, runProgram } from '@notebridge/system/processes/run-program';
import { adviceOnWritten, lookForWritten } from '@notebridge/system/processes/written-rule';
import { findByName, notFound } from './find-by-name.js';
import { listScripts, type SkillScript, withoutSuffix } from './skill-files.js';
import type { Skill } from './skill-finder.js';

export interface RunScriptOptions {
  skill: Skill;
  /** `fill`, `fill.py` or `scripts/fill.py`. */
  scriptName: string;
  /** Checked here: a list of texts. */
  args: unknown;
  /** Named arguments, which become `--name value`. */
  kwargs: unknown;
  maxOutputBytes: number;
  signal: AbortSignal;
}

/** What a script did, in the words of the reference's clients. */
export type ScriptResult = JsonObject & {
  success: boolean;
  output: string;
  stdout: string;
  stderr: string;
  /** False if it could not be run to its end at all; `execution_error` says why. */
  execution_ok: boolean;
  execution_error: string | null;
  /** The exception that ended a Python script. */
  code_error: { name: string; value: string; traceback: string } | null;
  exit_code: number | null;
  error: string | null;
};

/** More than skills need that carry their dependencies with them, and what can be copied in a second or two. */
const bounds = { entries: 10_000, bytes: 268_435_456 };

/** Runs a script of a trusted skill, from a private copy and in the skill's folder. A script that fails is a result; what cannot be run is an error. */
export async function runScript({ skill, scriptName, args, kwargs, maxOutputBytes, signal }: RunScriptOptions): Promise<ScriptResult> {
  const script = await findScript(skill, scriptName);
  const words = [...toWords(args), ...toOptions(kwargs)];
  if (!skill.source.trusted) {
    throw new BridgeError(
      'denied',
      `The script "${script.name}" of the skill "${skill.name}" is not run: the folder "${skill.source.path}" is not trusted. If you trust ` +
        `all who can write to it, put {"path": ${JSON.stringify(skill.source.path)}, "trusted": true} into "notebridge.skills" of the config.`,
    );
  }
  return withPrivateCopy(skill, async (copy) => {
    const file = await findInCopy(copy, script.path);
    const interpreter = file === undefined ? undefined : interpreterOf(script.path, file.head.split('\n')[0]);
    if (file === undefined || interpreter === undefined) throw await unknownScript(skill, scriptName);
    const program = {
      command: interpreter.command,
      args: [...interpreter.args, file.path, ...words],
      // What it had printed when its time was up is not lost, and nothing is written beside it.
      env: { PYTHONUNBUFFERED: '1', PYTHONDONTWRITEBYTECODE: '1', ...skill.source.env },
      timeoutMs: skill.source.timeoutMs,
      maxOutputBytes,
      signal,
    };
    // It begins in the skill's folder itself, where what it writes stays. A program has its folder when `runProgram` returns.
    const started = await skill.folder.withLocation((cwd) => ({ run: runProgram({ ...program, cwd }) }));
    if (started === undefined) throw await unknownScript(skill, scriptName);
    return toScriptResult(await started.run.catch((error: unknown) => denied(skill, messageOf(error))), {
      isPython: script.path.endsWith('.py'),
      timeoutMs: skill.source.timeoutMs,
    });
  });
}

/**
 * Does the work with a copy of the skill that only this user can change: what is run is what was proven to be inside. The copy is removed
 * afterwards; that of a hub that was killed, by the next one that runs a script.
 */
async function withPrivateCopy<Result>(skill: Skill, work: (copy: string) => Promise<Result>): Promise<Result> {
  const { name, folder } = skill;
  const assertEntry = assertOutside(skill);
  const scratch = await makeOwnScratch();
  try {
    // Its own name stands in what scripts write of themselves.
    const copy = join(scratch.path, folder.name);
    const copied = await copyContained(folder, copy, { ...bounds, assertEntry });
    if (copied.kind === 'refused') {
      throw new BridgeError(
        'limit_reached',
        `The scripts of the skill "${name}" are not run: its folder "${folder.path}" ${copied.why}, and a script runs from a copy of it. ` +
          'Move what its scripts do not need elsewhere.',
      );
    }
    return await work(copy);
  } finally {
    await scratch.remove();
  }
}

/**
 * Trusted or not: by now code in a sandbox may write there, or to a part of the skill. Returns what asks that of each part; undefined where code
 * was given no folder.
 */
function assertOutside(skill: Skill): ((path: string) => void) | undefined {
  const look = lookForWritten();
  if (look === undefined) return undefined;
  const assertPath = (path: string): void => {
    const written = look(path);
    if (written === undefined) return;
    denied(skill, `code in a sandbox may write to "${written}", where its "${path}" lies. ${adviceOnWritten(written)}`);
  };
  for (const path of [skill.source.path, skill.folder.path]) assertPath(path);
  return assertPath;
}

function denied({ name }: Skill, why: string): never {
  throw new BridgeError('denied', `The scripts of the skill "${name}" are not run: ${why}`);
}

async function findScript(skill: Skill, wanted: string): Promise<SkillScript> {
  const scripts = await listScripts(skill);
  const name = wanted.replace(/^(\.\/)?(scripts\/)?/, '');
  const byPath = findByName(`scripts/${name}`, scripts, ({ path }) => path);
  const script = byPath ?? findByName(name, scripts, (candidate) => candidate.name);
  if (script !== undefined) return script;
  const sameName = scripts.filter(({ path }) => withoutSuffix(path) === `scripts/${name}`);
  if (sameName.length > 1) {
    const names = sameName.map((candidate) => `"${candidate.name}"`).join(' and ');
    throw new BridgeError('invalid_arguments', `The skill "${skill.name}" has the scripts ${names}; name one with its ending.`);
  }
  throw await unknownScript(skill, wanted);
}

async function unknownScript(skill: Skill, wanted: string): Promise<BridgeError> {
  return notFound(
    `script of the skill "${skill.name}" called`,
    wanted,
    (await listScripts(skill)).map(({ name }) => name),
  );
}

function toWords(args: unknown): string[] {
  if (args === undefined || args === null) return [];
  if (!Array.isArray(args)) throw new BridgeError('invalid_arguments', `"args" must be a list of texts, found ${quote(args)}.`);
  return args.map(toWord);
}

function toWord(value: unknown): string {
  if (typeof value === 'string' && !value.includes('\0')) return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  throw new BridgeError('invalid_arguments', `"args" and "kwargs" must hold texts, found ${quote(value)}.`);
}

/** As the reference has it: `true` is a switch, `false` and null are left out, a list is one option several times. */
function toOptions(kwargs: unknown): string[] {
  if (kwargs === undefined || kwargs === null) return [];
  if (!isJsonObject(kwargs)) throw new BridgeError('invalid_arguments', `"kwargs" must be an object, found ${quote(kwargs)}.`);
  return Object.entries(kwargs).flatMap(([name, value]) => {
    const option = `--${toWord(name).replaceAll('_', '-')}`;
    if (value === true) return [option];
    if (value === false || value === null) return [];
    return (Array.isArray(value) ? value : [value]).flatMap((each) => [option, toWord(each)]);
  });
}

function toScriptResult(run: ProgramRun, { isPython, timeoutMs }: { isPython: boolean; timeoutMs: number }): ScriptResult {
  const { stdout, stderr, exitCode, droppedBytes } = run;
  const executionError = run.startFailure ?? (run.timedOut ? `it ran longer than ${timeoutMs} ms and was ended` : null);
  const codeError = isPython && exitCode !== null && exitCode !== 0 ? tracebackIn(stderr) : null;
  const success = executionError === null && exitCode === 0;
  return {
    success,
    output: success ? stdout : stderr || stdout,
    stdout,
    stderr,
    execution_ok: executionError === null,
    execution_error: executionError === null ? null : `The script could not be run: ${executionError}.`,
    code_error: codeError,
    exit_code: exitCode,
    error: success ? null : (executionError ?? describeEnd(run, codeError)),
    ...(droppedBytes > 0 ? { dropped_bytes: droppedBytes } : {}),
  };
}

function describeEnd({ exitCode, signal }: ProgramRun, codeError: ScriptResult['code_error']): string {
  if (codeError !== null) return codeError.value === '' ? codeError.name : `${codeError.name}: ${codeError.value}`;
  return signal === null ? `Script exited with code ${exitCode}` : `Script was ended by ${signal}`;
}

/** The last traceback that Python wrote; its exception is the first line that is not indented. */
function tracebackIn(stderr: string): ScriptResult['code_error'] {
  const start = stderr.lastIndexOf('Traceback (most recent call last):');
  const traceback = start < 0 ? '' : stderr.slice(start).trimEnd();
  const [, name, value = ''] = /\n([\w.]+)(?:: ([^]*))?$/.exec(traceback) ?? [];
  return name === undefined ? null : { name, value, traceback };
}

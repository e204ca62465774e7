import { askPython, askTimeoutMs } from '@notebridge/sandbox/site-packages';
import { writtenFolderOfPython } from '@notebridge/sandbox/written-python';

/** What a Python says of itself. */
export interface InterpreterFacts {
  /** Its real interpreter, where a launcher (pyenv, asdf) was asked. */
  readonly executable: string;
  readonly prefix: string;
  readonly version: string;
  /** The installed versions; null where a package is missing. */
  readonly ipykernel: string | null;
  readonly jupyterClient: string | null;
  readonly hasPip: boolean;
  /** pip may not install into it (PEP 668): the system's package manager keeps it. */
  readonly isManaged: boolean;
}

export type InterpreterLook = InterpreterFacts | { readonly fault: string };

/** Runs in Python 2.7 too: also what is too old shall say its version. */
const program = `
import json
# Last, so that nothing of the standard library is imported from there.
sys.path.extend(entry for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry)
facts = {"executable": sys.executable, "prefix": sys.prefix, "version": ".".join(map(str, sys.version_info[:3]))}
def version(name):
    try:
        from importlib import metadata
        return metadata.version(name)
    except Exception:
        return None
def there(name):
    try:
        from importlib import util
        return util.find_spec(name) is not None
    except Exception:
        return False
facts["ipykernel"] = version("ipykernel")
facts["jupyterClient"] = version("jupyter_client")
facts["hasPip"] = there("pip")
try:
    import sysconfig
    managed = sys.prefix == sys.base_prefix and os.path.exists(os.path.join(sysconfig.get_path("stdlib"), "EXTERNALLY-MANAGED"))
except Exception:
    managed = False
facts["isManaged"] = managed
sys.stdout.write("\\n" + json.dumps(facts) + "\\n")
`;

/**
 * Runs a Python to ask what it has. Only for one that may run: never for one that was merely found in a folder; one that code in a sandbox
 * may have written is not run. It begins in the root folder, so that nothing of the working directory can be imported, and no code of a
 * project that its path files or `PYTHONPATH` name.
 */
export async function lookAtInterpreter(python: string, env: NodeJS.ProcessEnv = process.env): Promise<InterpreterLook> {
  const written = writtenFolderOfPython(python);
  if (written !== undefined) return { fault: `code in a sandbox may write to "${written}", so nothing there is run outside of one` };
  const { error, stdout, stderr } = await askPython(python, program, env);
  if (typeof error?.code === 'string') return { fault: error.message };
  const facts = error ? undefined : parseFacts(stdout);
  if (facts) return facts;
  const said = stderr.trim().split('\n').at(-1)?.slice(0, 200);
  const signal = error?.signal;
  const ended =
    signal === 'SIGKILL' ? `it did not answer within ${askTimeoutMs / 1000} s` : `it ended with ${signal ?? `code ${error?.code ?? 0}`}`;
  return { fault: said ? `${ended}: ${said}` : ended };
}

function parseFacts(output: string): InterpreterFacts | undefined {
  try {
    const facts = JSON.parse(output.trim().split('\n').at(-1) ?? '') as InterpreterFacts;
    return typeof facts.version === 'string' && typeof facts.executable === 'string' ? facts : undefined;
  } catch {
    return undefined;
  }
}

import { isAbsolute } from 'node:path';
import { isJsonObject, type JsonObject } from '@notebridge/kit/json';
import { Listeners } from '@notebridge/kit/listeners';
import { shellWord } from '@notebridge/kit/shell-word';
import { HostError } from '../host/host-error.js';
import type { Restriction } from '../kernel/jupyter/sandbox-notes.js';
import type { Kernel } from '../kernel/kernel.js';
import { folderInside } from '../kernel/worker/folder-fs.js';
import type { Actor } from '../model/cell.js';
import type { FolderAccess, SandboxMode } from '../sandbox/spec.js';
import { writtenFolderOf } from '../sandbox/written-folders.js';
import type { NotebookSession } from '../session.js';
import type { KernelAsks } from '../viewer/protocol.js';
import { AllowedReach, type CodeReach } from './allowed-reach.js';
import { chooseKernel, type FolderTrust, isGeneric, type KernelDecision, readNamedKernel } from './choose-kernel.js';
import { findUsable } from './find-usable.js';
import { type FoundKernel, pyodideKernel } from './found-kernel.js';
import { describeIsolation } from './isolation.js';
import type { Variables } from './jupyter-folders.js';
import type { KernelChoice, KernelOffer } from './kernel-choice.js';
import type { KernelFinder } from './kernel-finder.js';
import { withKernel } from './kernel-metadata.js';
import type { FindPyodideReach, PyodideReach } from './pyodide-reach.js';
import { isSamePython } from './same-python.js';
import { SwitchableKernel } from './switchable-kernel.js';

/** How a notebook comes to its kernel. */
export interface KernelOptions {
  /** The name of a kernelspec, the path of a Python, `pyodide`, or `auto`. Default `pyodide`. */
  wanted?: string | undefined;
  /** A person at a terminal chose it, or let `auto` choose. Default false: the arguments of an agent host did. */
  isAttended?: boolean | undefined;
  /** Folders that the person trusts. Default: none, and a yes counts for as long as the notebook is open. */
  trust?: FolderTrust | undefined;
  /** Variables of whoever opens the notebook: PATH, activated environment, Jupyter's folders. Default: those of this process. */
  env?: Variables | undefined;
}

export interface NotebookKernelsOptions extends KernelOptions {
  /** The folder of the notebook: where its code begins. */
  folder: string;
  finder: KernelFinder;
  metadata: JsonObject;
  /** Undefined: `off` for an own Python that a person chose, as in Jupyter; else `auto`. */
  sandbox: SandboxMode | undefined;
  /** `--files` and `--allow-net`. With either an own Python runs in a sandbox, which alone keeps it, or not at all. */
  files?: FolderAccess | undefined;
  allowNet: readonly string[];
  /** What Pyodide's code reaches. Throws where that cannot be kept. */
  reach: FindPyodideReach;
  create: (found: FoundKernel, how: KernelSetup) => Kernel | Promise<Kernel>;
}

/** What is decided beside the kernel itself. */
export interface KernelTerms {
  readonly sandbox: SandboxMode;
  /** A person chose it, at a terminal or in a window. */
  readonly isAttended: boolean;
}

/** With which it is made. */
export interface KernelSetup extends KernelTerms, CodeReach {
  readonly onRestricted: (restriction: Restriction) => void;
}

/** The kernels of one open notebook: which there are, which one runs, and how another takes its place. */
export class NotebookKernels {
  readonly kernel: SwitchableKernel;
  readonly #options: NotebookKernelsOptions;
  readonly #finder: KernelFinder;
  readonly #trust: FolderTrust;
  readonly #listeners = new Listeners<KernelChoice>();
  readonly #allowed: AllowedReach;
  #decision: KernelDecision;
  #terms: KernelTerms;
  /** A person or an argument named this kernel, so the notebook's file shall name it. */
  #isMeant: boolean;
  #session: NotebookSession | undefined;
  #isDismissed = false;
  /** The choice as listeners know it. */
  #said = '';

  private constructor(
    options: NotebookKernelsOptions,
    parts: {
      decision: KernelDecision;
      terms: KernelTerms;
      kernel: Kernel;
      finder: KernelFinder;
      trust: FolderTrust;
      allowed: AllowedReach;
    },
  ) {
    this.#options = options;
    this.#finder = parts.finder;
    this.#trust = parts.trust;
    this.#allowed = parts.allowed;
    this.#decision = parts.decision;
    this.#terms = parts.terms;
    this.#isMeant = !['auto', undefined].includes(options.wanted);
    this.kernel = new SwitchableKernel(parts.kernel);
    this.#said = JSON.stringify(this.choice);
  }

  /** Rejects with `unknown_kernel` or `kernel_unusable`. */
  static async open(options: NotebookKernelsOptions): Promise<NotebookKernels> {
    const { finder, metadata, wanted = pyodideKernel.id, trust = temporaryTrust() } = options;
    const chosen =
      wanted === 'auto'
        ? await chooseKernel(finder, metadata, trust)
        : {
            kernel: await findUsable(finder, wanted),
            reason: options.wanted === undefined ? 'nothing else was asked for' : 'it was asked for',
          };
    const decision = { ...chosen, kernel: beginningIn(options, chosen.kernel) };
    const terms = termsFor(decision.kernel, options, options.isAttended === true);
    const allowed = new AllowedReach({ files: options.files, allowNet: options.allowNet });
    let made: NotebookKernels | undefined;
    const onRestricted = (restriction: Restriction): void => {
      if (made) made.#offer(restriction);
    };
    const kernel = await options.create(decision.kernel, { ...terms, ...allowed.reach, onRestricted });
    made = new NotebookKernels(options, { decision, terms, kernel, finder, trust, allowed });
    return made;
  }

  get choice(): KernelChoice {
    const { kernel, reason, proposal, notice } = this.#decision;
    const asks = this.#isDismissed ? undefined : proposal;
    return {
      id: kernel.id,
      displayName: kernel.displayName,
      reason,
      isolation: this.#describeIsolation(),
      proposal: asks?.trust ? { id: asks.id, question: asks.trust.question, folder: asks.trust.folder } : null,
      mayAllow: this.#allowed.offer ?? null,
      notice: [notice, this.#writtenNotice].filter((text) => text !== undefined).join(' ') || null,
    };
  }

  #describeIsolation(): string {
    const { files, allowNet } = this.#allowed.reach;
    const { layers } = this.kernel;
    return describeIsolation(this.#decision.kernel, { sandbox: this.#terms.sandbox, layers, files, allowNet, reach: () => this.#reach });
  }

  get #writtenNotice(): string | undefined {
    const { written } = this.#decision.kernel;
    if (written === undefined) return undefined;
    const inside =
      this.#terms.sandbox === 'off'
        ? 'The sandbox was switched off all the same.'
        : `So it runs in a sandbox${this.#terms.sandbox === 'require' ? ' alone' : ', where one works'}.`;
    return `Code in a sandbox may write to "${written}", where this kernel, or what it loads, lies. ${inside} To take that right back, and trust what stands there: notebridge grants files --withdraw ${shellWord(written)}`;
  }

  /** Whether this is what `--kernel` names, in whatever spelling. */
  isUsing(wanted: string): boolean {
    const { id, launch } = this.#decision.kernel;
    if (wanted === id || wanted.toLowerCase() === id) return true;
    return launch !== undefined && launch.kernelName === undefined && isAbsolute(wanted) && isSamePython(wanted, launch.python);
  }

  /** For agents: what the code is, and can do. */
  describe(): JsonObject {
    const { displayName, isolation, proposal, notice } = this.choice;
    const isOwn = this.#decision.kernel.id !== pyodideKernel.id;
    const folder = isOwn ? this.#options.folder : this.#reach.folder && folderInside;
    return {
      display_name: displayName,
      ...(this.#session ? { state: this.#session.kernelState } : {}),
      isolation,
      ...(folder === undefined ? {} : { folder }),
      // Only a person can answer, and an agent can say so.
      ...(proposal ? { asks_the_person: `${proposal.question} It is asked in the window: open_notebook_window.` } : {}),
      ...(notice === null ? {} : { notice }),
    };
  }

  get #reach(): PyodideReach {
    return this.#options.reach(this.#terms.isAttended);
  }

  /** Returns the unsubscribe function. */
  onChoice(listener: (choice: KernelChoice) => void): () => void {
    return this.#listeners.add(listener);
  }

  /** From now on the notebook's metadata follow the kernel. Returns a function that ends it. */
  attach(session: NotebookSession): () => void {
    this.#session = session;
    return session.onEvent((event) => {
      // With a run the file changes anyway; merely opening a notebook leaves it as it is.
      if (event.type === 'finished' && (this.#isMeant || namesNone(session.document.metadata))) this.#writeMetadata(event.run.by);
      // Once the layers are known, more can be said of the isolation.
      if (event.type === 'kernel') this.#emitChange();
    });
  }

  async list(): Promise<KernelOffer[]> {
    const all = await this.#finder.all();
    const { kernel } = this.#decision;
    const shown = all.some(({ id }) => id === kernel.id) ? all : [kernel, ...all];
    return shown.map(({ launch: _, ...found }) => ({ ...found, isCurrent: found.id === kernel.id }));
  }

  /**
   * Puts another kernel in, as a restart does: what runs ends, what waits is forgotten, variables are gone. Where the person has to
   * trust a folder first, it becomes the proposal, and the question is the answer. Rejects with `unknown_kernel`, `kernel_unusable`,
   * and with what keeps it from starting.
   */
  async use(id: string, by: Actor): Promise<{ asks: KernelAsks } | undefined> {
    const session = this.#session;
    if (!session) return undefined;
    const found = beginningIn(this.#options, await findUsable(this.#finder, id));
    const { trust } = found;
    if (trust && found.source === 'folder' && !this.#trust.has(trust.folder)) {
      this.#decision = { ...this.#decision, proposal: found };
      this.#isDismissed = false;
      this.#emitChange();
      return { asks: trust };
    }
    await this.#putIn(found);
    this.#decision = { kernel: found, reason: 'it was chosen in the window' };
    this.#isMeant = true;
    this.#emitChange();
    await session.restart({ by });
    this.#writeMetadata(by);
    return undefined;
  }

  /** What code may reach: `--files` and `--allow-net`, with what a person has allowed since. */
  get reach(): CodeReach {
    return this.#allowed.reach;
  }

  /** Answers what `choice.mayAllow` offers. A yes is a restart; a no is kept as long as the notebook is open. Rejects with what keeps it from starting. */
  async allow({ what, yes }: { what: string; yes: boolean }, by: Actor): Promise<void> {
    const reach = this.#allowed.with(what);
    if (reach === undefined) throw new HostError('bad_request', 'That is not offered any more. Run the cell again.');
    if (yes) await this.#putIn(this.#decision.kernel, reach);
    else this.#allowed.refuse(what);
    this.#emitChange();
    if (yes) await this.#session?.restart({ by });
  }

  async #putIn(found: FoundKernel, reach = this.#allowed.reach): Promise<void> {
    const terms = termsFor(found, { ...this.#options, ...reach }, true);
    const onRestricted = (restriction: Restriction) => this.#offer(restriction);
    await this.kernel.putIn(await this.#options.create(found, { ...terms, ...reach, onRestricted }));
    this.#terms = terms;
    this.#allowed.set(reach);
  }

  #offer(restriction: Restriction): void {
    if (this.#allowed.take(restriction)) this.#emitChange();
  }

  /** Answers the question of the proposal. A no is kept as long as the notebook is open. */
  async trustFolder({ yes, folder }: { yes: boolean; folder?: string | undefined }, by: Actor): Promise<void> {
    const { proposal } = this.#decision;
    if (!proposal?.trust || (folder !== undefined && folder !== proposal.trust.folder))
      throw new HostError('bad_request', 'There is no kernel that waits for an answer. Reload the window.');
    if (yes) {
      await this.#trust.add(proposal.trust.folder);
      // Of a kernelspec the yes is the choice; an environment is looked up again, and is trusted by now.
      await this.use(proposal.id, by);
      return;
    }
    this.#isDismissed = true;
    this.#emitChange();
  }

  #emitChange(): void {
    const next = JSON.stringify(this.choice);
    if (next === this.#said) return;
    this.#said = next;
    this.#listeners.emit(this.choice);
  }

  #writeMetadata(by: Actor): void {
    const document = this.#session?.document;
    if (!document) return;
    const next = withKernel(document.metadata, this.#decision.kernel, this.kernel.info);
    if (JSON.stringify(next) !== JSON.stringify(document.metadata)) document.setMetadata(undefined, next, { by });
    this.#isMeant = false;
  }
}

/** Nothing, or as little as a new notebook of ours has: a kernel that has run leaves the version of its language. */
function namesNone({ kernelspec, language_info }: JsonObject): boolean {
  const version = isJsonObject(language_info) ? language_info.version : undefined;
  return kernelspec === undefined || (version === undefined && isGeneric(readNamedKernel({ kernelspec }).name ?? ''));
}

/** A kernel takes modules from where it begins, before any cell runs: from a folder of code's it loads what code has put there. */
function beginningIn({ folder, sandbox, ...reach }: NotebookKernelsOptions, found: FoundKernel): FoundKernel {
  // In a sandbox alone it is anyway.
  if (found.launch === undefined || found.written !== undefined || sandbox === 'require' || isConfined(reach)) return found;
  const written = writtenFolderOf(folder);
  return written === undefined ? found : { ...found, written };
}

function termsFor(
  { id, written, launch }: FoundKernel,
  { sandbox, ...reach }: Pick<NotebookKernelsOptions, 'sandbox' | 'files' | 'allowNet'>,
  isAttended: boolean,
): KernelTerms {
  if (sandbox !== undefined || id === pyodideKernel.id) return { sandbox: sandbox ?? 'auto', isAttended };
  if (isConfined(reach)) return { sandbox: 'require', isAttended };
  // Where no sandbox works a Python runs as before, and says so; a kernelspec leads to code that nobody has looked at.
  if (written !== undefined) return { sandbox: launch?.kernelName === undefined ? 'auto' : 'require', isAttended };
  return { sandbox: isAttended ? 'off' : 'auto', isAttended };
}

function isConfined({ files, allowNet }: Pick<NotebookKernelsOptions, 'files' | 'allowNet'>): boolean {
  return files !== undefined || allowNet.length > 0;
}

/** Trust that ends with the notebook. */
export function temporaryTrust(): FolderTrust {
  const folders = new Set<string>();
  return {
    has: (folder) => folders.has(folder),
    add: async (folder) => void folders.add(folder),
    remove: async (folder) => void folders.delete(folder),
  };
}

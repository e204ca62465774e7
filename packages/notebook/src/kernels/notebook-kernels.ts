import { isAbsolute } from 'node:path';
import type { JsonObject } from '@notebridge/protocol/json';
import { Listeners } from '@notebridge/protocol/util/listeners';
import { messageOf } from '@notebridge/protocol/util/message-of';
import type { FolderAccess, SandboxMode } from '@notebridge/sandbox/spec';
import { shellWord } from '@notebridge/system/starts/shell-word';
import type { Restriction } from '../kernel/jupyter/sandbox-notes.js';
import type { Kernel } from '../kernel/kernel.js';
import { folderInside } from '../kernel/worker/folder-fs.js';
import type { Actor } from '../model/cell.js';
import { HostError } from '../session/host-error.js';
import type { NotebookSession } from '../session/session.js';
import { AllowedReach, type CodeReach } from './allowed-reach.js';
import { chooseKernel, type FolderTrust, type KernelDecision, namesNone, temporaryTrust } from './choose-kernel.js';
import { findUsable } from './find-usable.js';
import { type FoundKernel, pyodideKernel } from './found-kernel.js';
import { describeIsolation } from './isolation.js';
import type { Variables } from './jupyter-folders.js';
import type { KernelAnswer, KernelAsks, KernelChoice, KernelOffer } from './kernel-choice.js';
import type { KernelFinder } from './kernel-finder.js';
import { withKernel } from './kernel-metadata.js';
import { beginningIn, type KernelTerms, termsFor, toReopenOptions } from './kernel-terms.js';
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

/** With which it is made. */
export interface KernelSetup extends KernelTerms, CodeReach {
  readonly onRestricted: (restriction: Restriction) => void;
}

/** The kernel that a person is asked about, before it runs the code. */
interface Proposal {
  readonly kernel: FoundKernel;
  readonly question: string;
  /** A yes trusts it. Null: nothing needs trust. */
  readonly folder: string | null;
}

/** The kernels of one open notebook: which there are, which one runs, and how another takes its place. */
export class NotebookKernels {
  /** From its opening on. */
  #kernel!: SwitchableKernel;
  readonly #options: NotebookKernelsOptions;
  readonly #finder: KernelFinder;
  readonly #trust: FolderTrust;
  readonly #listeners = new Listeners<KernelChoice>();
  readonly #allowed: AllowedReach;
  #decision: KernelDecision;
  #terms: KernelTerms;
  /** A person or an argument named this kernel, so the notebook's file shall name it. */
  #isMeant: boolean;
  /** It was put in by a person in a window. */
  #isChosen = false;
  #session: NotebookSession | undefined;
  /** The kernel that the person is asked about. */
  #proposal: Proposal | undefined;
  /** Kernels of `--kernel` of who joined, about which the person was asked. */
  readonly #wanted = new Set<string>();
  /** Code has run in the kernel that is there now. */
  #hasRun = false;
  /** The choice as listeners know it. */
  #said = '';

  private constructor(options: NotebookKernelsOptions, trust: FolderTrust, decision: KernelDecision) {
    this.#options = options;
    this.#finder = options.finder;
    this.#trust = trust;
    this.#allowed = new AllowedReach({ files: options.files, allowNet: options.allowNet });
    this.#decision = { ...decision, kernel: beginningIn(options, decision.kernel) };
    this.#terms = termsFor(this.#decision.kernel, options, options.isAttended === true);
    const { proposal } = decision;
    this.#proposal = proposal && { kernel: proposal, question: proposal.trust?.question ?? '', folder: proposal.trust?.folder ?? null };
    this.#isMeant = !['auto', undefined].includes(options.wanted);
  }

  /** Rejects with `unknown_kernel` or `kernel_unusable`. */
  static async open(options: NotebookKernelsOptions): Promise<NotebookKernels> {
    const { finder, metadata, wanted = pyodideKernel.id, trust = temporaryTrust() } = options;
    const reason = options.wanted === undefined ? 'nothing else was asked for' : 'it was asked for';
    const decision = wanted === 'auto' ? await chooseKernel(finder, metadata, trust) : { kernel: await findUsable(finder, wanted), reason };
    const made = new NotebookKernels(options, trust, decision);
    made.#kernel = new SwitchableKernel(await made.#create(made.#decision.kernel, made.#terms, made.reach));
    made.#said = JSON.stringify(made.choice);
    return made;
  }

  get kernel(): SwitchableKernel {
    return this.#kernel;
  }

  get choice(): KernelChoice {
    const { kernel, reason, notice } = this.#decision;
    return {
      id: kernel.id,
      displayName: kernel.displayName,
      reason,
      isolation: this.#describeIsolation(),
      proposal: this.#proposal ? { id: this.#proposal.kernel.id, ...this.#toAsks(this.#proposal) } : null,
      options: this.#reopenOptions,
      mayAllow: this.#allowed.offer ?? null,
      notice: [notice, this.#writtenNotice].filter((text) => text !== undefined).join(' ') || null,
    };
  }

  #describeIsolation(): string {
    const { files, allowNet } = this.#allowed.reach;
    const { sandbox } = this.#terms;
    return describeIsolation(this.#decision.kernel, { sandbox, layers: this.kernel.layers, files, allowNet, reach: () => this.#reach });
  }

  /** With what its code may do, once the person has said yes. */
  #toAsks({ kernel, question, folder }: Proposal): KernelAsks {
    const { reach } = this.#allowed;
    const { sandbox } = termsFor(beginningIn(this.#options, kernel), { ...this.#options, ...reach }, true);
    const isolation = describeIsolation(kernel, { sandbox, layers: undefined, ...reach, reach: () => this.#options.reach(true) });
    return { question, folder, isolation };
  }

  get #reopenOptions(): readonly string[] {
    const { sandbox, reach: findReach, wanted } = this.#options;
    const isAuto = wanted === 'auto' && !this.#isChosen;
    return toReopenOptions(this.#decision.kernel, { terms: this.#terms, sandbox, reach: this.#allowed.reach, findReach, isAuto });
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
      ...(this.#isNew ? { variables: 'none: no cell has run in this kernel yet, and outputs in the notebook are of an earlier one' } : {}),
      ...(notice === null ? {} : { notice }),
    };
  }

  /** What the notebook shows of runs is not of this kernel. */
  get #isNew(): boolean {
    const cells = this.#session?.document.cells ?? [];
    return !this.#hasRun && cells.some(({ executionCount }) => executionCount !== null);
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
      if (event.type === 'restarted') this.#hasRun = false;
      if (event.type !== 'kernel') return;
      if (event.state !== 'idle') this.#hasRun = event.state === 'busy';
      // Once the layers are known, more can be said of the isolation.
      this.#emitChange();
    });
  }

  async list(): Promise<KernelOffer[]> {
    const all = await this.#finder.all();
    const { kernel } = this.#decision;
    const shown = all.some(({ id }) => id === kernel.id) ? all : [kernel, ...all];
    return shown.map((found) => {
      const { launch: _, trust: __, ...offer } = found;
      const question = this.#questionOn(found);
      return { ...offer, isCurrent: found.id === kernel.id, asks: question ? this.#toAsks(question) : null };
    });
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
    const asks = this.#questionOn(found);
    if (asks) {
      this.#proposal = asks;
      this.#emitChange();
      return { asks: this.#toAsks(asks) };
    }
    await this.#putIn(found);
    this.#decision = { kernel: found, reason: 'it was chosen in the window' };
    this.#proposal = undefined;
    this.#isMeant = true;
    this.#isChosen = true;
    this.#emitChange();
    await session.restart({ by });
    this.#writeMetadata(by);
    return undefined;
  }

  /** Who joins has asked for another kernel, which is not put in unasked: the person is asked, once for each. */
  async offer(wanted: string): Promise<void> {
    if (this.#wanted.has(wanted) || this.isUsing(wanted)) return;
    this.#wanted.add(wanted);
    const asked = `An agent was set up with --kernel ${wanted}`;
    try {
      const kernel = await findUsable(this.#finder, wanted);
      const question = `${asked}, and this notebook was open already, with ${this.#decision.kernel.displayName}. Use that one?`;
      this.#proposal = { kernel, question, folder: this.#questionOn(kernel)?.folder ?? null };
    } catch (error) {
      this.#decision = { ...this.#decision, notice: `${asked}, which is not used here. ${messageOf(error)}` };
    }
    this.#emitChange();
  }

  /** An environment of a folder that is not trusted yet. */
  #questionOn(kernel: FoundKernel): Proposal | undefined {
    const { trust, source } = kernel;
    return trust && source === 'folder' && !this.#trust.has(trust.folder) ? { kernel, ...trust } : undefined;
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
    await this.kernel.putIn(await this.#create(found, terms, reach));
    this.#terms = terms;
    this.#allowed.set(reach);
  }

  #create(found: FoundKernel, terms: KernelTerms, reach: CodeReach): Kernel | Promise<Kernel> {
    const onRestricted = (restriction: Restriction): void => {
      if (this.#allowed.take(restriction)) this.#emitChange();
    };
    return this.#options.create(found, { ...terms, ...reach, onRestricted });
  }

  /** Answers the question of the proposal. A no is kept as long as the notebook is open. */
  async trustFolder({ yes, id, folder }: KernelAnswer, by: Actor): Promise<void> {
    const proposal = this.#proposal;
    if (!proposal || (id ?? proposal.kernel.id) !== proposal.kernel.id || (folder ?? proposal.folder) !== proposal.folder)
      throw new HostError('bad_request', 'There is no kernel that waits for an answer. Reload the window.');
    if (yes) {
      if (proposal.folder !== null) await this.#trust.add(proposal.folder);
      // Of a kernelspec the yes is the choice; an environment is looked up again, and is trusted by now.
      await this.use(proposal.kernel.id, by);
      return;
    }
    this.#proposal = undefined;
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

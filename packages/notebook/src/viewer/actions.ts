import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import type { CellType } from '../model/cell.js';
import type { Output } from '../model/output.js';
import type { ElicitationAnswer } from '../session/elicitation.js';

/** What is wrong with a value, in words; undefined for nothing: then it is a `Value`. */
type Check<Value> = ((value: unknown) => string | undefined) & { readonly accepts?: Value };
type Checks = { readonly [field: string]: Check<unknown> };
type ValueOf<Of> = Of extends { readonly accepts?: infer Value } ? Value : never;
type OptionalOf<Of> = { [Field in keyof Of]: undefined extends ValueOf<Of[Field]> ? Field : never }[keyof Of];
type FieldsOf<Of> = { readonly [Field in Exclude<keyof Of, OptionalOf<Of>>]: ValueOf<Of[Field]> } & {
  readonly [Field in OptionalOf<Of>]?: Exclude<ValueOf<Of[Field]>, undefined>;
};

const text: Check<string> = (value) => (typeof value === 'string' ? undefined : 'has to be a text');
const flag: Check<boolean> = (value) => (typeof value === 'boolean' ? undefined : 'has to be true or false');
const count: Check<number> = (value) =>
  Number.isSafeInteger(value) && Number(value) >= 0 ? undefined : 'has to be an integer of 0 or more';
const orNull =
  <Value>(check: Check<Value>): Check<Value | null> =>
  (value) =>
    value === null ? undefined : check(value);
const optional =
  <Value>(check: Check<Value>): Check<Value | undefined> =>
  (value) =>
    value === undefined ? undefined : check(value);
const oneOf =
  <const Allowed extends readonly unknown[]>(...allowed: Allowed): Check<Allowed[number]> =>
  (value) =>
    allowed.includes(value) ? undefined : `has to be one of ${allowed.map((word) => JSON.stringify(word)).join(', ')}`;

/** A cell's id in nbformat has at most 64 characters; what is longer is not worth looking for, or repeating in a message. */
const cellId: Check<string> = (value) =>
  typeof value === 'string' && value.length <= 64 ? undefined : 'has to be a text of at most 64 characters';
const cellType: Check<CellType> = oneOf('code', 'markdown', 'raw');
const shortText: Check<string> = (value) =>
  typeof value === 'string' && value.length <= 1000 ? undefined : 'has to be a text of at most 1000 characters';
const object: Check<JsonObject> = (value) => (isJsonObject(value) ? undefined : 'has to be an object');
const listOf =
  <Value>(check: Check<Value>, max: number): Check<readonly Value[]> =>
  (value) => {
    if (!Array.isArray(value) || value.length > max) return `has to be a list of at most ${max}`;
    for (const each of value) {
      const fault = check(each);
      if (fault !== undefined) return `has an entry that ${fault}`;
    }
    return undefined;
  };
const fields =
  <const Of extends Checks>(checks: Of): Check<FieldsOf<Of>> =>
  (value) => {
    if (!isJsonObject(value)) return 'has to be an object';
    if (Object.keys(value).some((field) => !Object.hasOwn(checks, field))) return 'has a field that is not known';
    for (const [field, check] of Object.entries(checks)) {
      const fault = check(Object.hasOwn(value, field) ? value[field] : undefined);
      if (fault !== undefined) return `has a "${field}" that ${fault}`;
    }
    return undefined;
  };
const cellIds = listOf(cellId, 10_000);
const texts: Check<string | readonly string[]> = (value) => (typeof value === 'string' ? undefined : listOf(text, 1_000_000)(value));
/** That it can be written at all; the rest is checked as that of a file is, when it is put in. */
const output: Check<Output> = (value) => {
  const found = isJsonObject(value) ? value : {};
  switch (found.output_type) {
    case 'stream':
      return texts(found.text);
    case 'error':
      return listOf(text, 1_000_000)(found.traceback);
    case 'display_data':
    case 'execute_result':
      return object(found.data) ?? object(found.metadata);
    default:
      return 'has to be an output of nbformat';
  }
};
const bundles: Check<JsonObject> = (value) => object(value) ?? listOf(object, 10_000)(Object.values(value as JsonObject));
/** What stands in it is checked as that of a file is, when it is put in. */
const pastedCell = fields({
  cellType,
  source: text,
  metadata: optional(object),
  attachments: optional(bundles),
  outputs: optional(listOf(output, 100_000)),
  executionCount: optional(orNull(count)),
});
const sourceUpdate = fields({ cellId, source: text, expectedRev: count });
const elicitationAnswer: Check<ElicitationAnswer> = fields({ action: oneOf('accept', 'decline', 'cancel'), content: optional(object) });

/** What a person asks for, with the fields of each. Refused edits leave the document as it is. */
export const actions = {
  /** Answered with `InsertedCell`. */
  insert: { index: count, cellType, source: text },
  /** Answered with `InsertedCells`. */
  paste: { index: count, cells: listOf(pastedCell, 1000) },
  update: { cellId, source: text, expectedRev: optional(count) },
  move: { cellId, index: count },
  /** All or, if one of them has another revision by now, none. */
  updateAll: { updates: listOf(sourceUpdate, 10_000) },
  delete: { cellIds },
  /** Two cells of one: the text before `at` (UTF-16 units) goes into a new cell above; outputs stay with the rest. `InsertedCell`. */
  split: { cellId, at: count, expectedRev: count },
  /** One cell of several: the first one, of the type of the first, without outputs. */
  merge: { cellIds },
  setType: { cellId, cellType },
  clearOutputs: { cellId },
  /** Takes back the last step on cells, of this window (not runs, and not typing) or of an agent. Answered with `InsertedCell`; fails with `nothing_to_undo`. */
  undoStep: {},
  run: { cellId },
  /** Code cells `from` … `to`, both included, in their order; without them the first and the last. Ends at the first that fails. `RanCells`. */
  runAll: { from: optional(cellId), to: optional(cellId), restart: optional(flag) },
  /** Answered with `Completions`. */
  complete: { code: text, position: count },
  /** Answered with `Inspected`. */
  inspect: { code: text, position: count, detail: oneOf(0, 1) },
  /** Answered with a list of `NearbyNotebook`. */
  listNotebooks: {},
  /** Opens another notebook of the folder, or makes one. Answered with `{ url }`, which opens one window. */
  openNotebook: { path: shortText, isNew: flag },
  /** Answers a question of the code; null refuses. Fails with `no_question`. */
  answerInput: { questionId: count, text: orNull(text) },
  /** Answers what a server asks in a call of the code. Fails with `no_question`, and `bad_arguments` for what the form does not ask for. */
  answerElicitation: { questionId: count, answer: elicitationAnswer },
  stop: {},
  interrupt: {},
  restart: {},
  save: {},
  /** Takes an agent's change back. */
  undo: { entryId: count },
  disconnectAgent: { agentId: text },
  /** Whether an agent that asks for the notebook gets it. Fails with `no_question`. */
  answerTakeOver: { questionId: count, yes: flag },
  /** Takes the notebook away from an agent, which only looks from then on, or lets it write again. */
  setMayHold: { agentId: text, may: flag },
  setReadOnly: { readOnly: flag },
  /** Whether code may call tools. */
  setToolAccess: { allowed: flag },
  /** Answered with `KernelList`. */
  listKernels: {},
  /**
   * Puts another kernel in, as a restart does. Answered with `{ asks: KernelAsks }` where the person has to trust a folder first, as the list
   * said (`trustFolder`). Fails with `unknown_kernel`, `kernel_unusable` or `kernel_failed`.
   */
  useKernel: { id: text },
  /** Answers the question of the proposal; with yes, its folder, if it has one, is trusted and its kernel put in. With `id` or `folder` only if it is still of that one. */
  trustFolder: { yes: flag, id: optional(text), folder: optional(text) },
  /** Answers what `KernelChoice.mayAllow` offers; a yes restarts the kernel. Fails with `bad_request` for what is not offered any more. */
  allow: { what: text, yes: flag },
  /** Whether scripts in outputs may run, apart from everything. */
  trustOutputs: { trusted: flag },
  /** An image below the notebook's folder, by its path from there. Answered with `BesideImage`. */
  readImage: { path: text },
  /** A library that a package of the kernel's Python brings, by the address at which a page looks for it. Answered with base64. */
  readLibrary: { address: shortText },
  /** A page that an output names, by its path. Answered with base64. */
  readPage: { path: shortText },
  /** The picture that a `draw` asked for, as the `data:` address of a PNG; null where there is none. */
  drawn: { id: count, picture: orNull(text) },
  /** Answered with `FoundWidget`. */
  findWidget: { modelId: shortText },
  /** Answered with `OpenedWidget`. */
  openWidget: { modelId: shortText },
  /** What a person did with a widget of this cell, as Jupyter's `comm_msg` has it. Done when the kernel has dealt with it. */
  callWidget: { commId: shortText, cellId, data: object, buffers: listOf(text, 1000) },
  resolveConflict: { keep: oneOf('mine', 'theirs') },
} as const satisfies { readonly [action: string]: Checks };

export type ViewerAction = {
  [Do in keyof typeof actions]: { readonly do: Do } & FieldsOf<(typeof actions)[Do]>;
}[keyof typeof actions];

/** A cut or copied cell, with all that a cell keeps when it is put somewhere else. */
export type PastedCell = ValueOf<typeof pastedCell>;

/** One of several sources that change at once. */
export type SourceUpdate = ValueOf<typeof sourceUpdate>;

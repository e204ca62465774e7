import { Command, Option } from 'commander';
import { asTyped } from './own-command.js';

/** An option of a command, made anew for each: commander keeps in it what was given. */
export interface CommandOption<Values = unknown> {
  create(): Option;
  /** For the compiler alone: what the command gets of it. */
  readonly values?: Values;
}

interface OptionSettings {
  /** One that takes the text that was given and what came before, if it may come again. */
  parse?: (text: string, previous: never) => unknown;
  choices?: readonly string[];
  default?: unknown;
  /** How help shows the default. */
  shownDefault?: string;
  isMandatory?: true;
}

/** Declares an option. What its command gets follows from the flags and settings: `--log-dir <dir>` is `logDir?: string`. */
export function option<const Flags extends string, const Settings extends OptionSettings>(
  flags: Flags,
  description: string,
  settings?: Settings,
): CommandOption<ValuesOf<Flags, Settings>> {
  const { parse, choices, default: preset, shownDefault, isMandatory = false } = settings ?? {};
  return {
    create: () => {
      const created = new Option(flags, description).default(preset, shownDefault).makeOptionMandatory(isMandatory);
      if (choices !== undefined) created.choices(choices);
      if (parse !== undefined) created.argParser(parse as (text: string, previous: unknown) => unknown);
      return created;
    },
  };
}

type NameIn<Flags extends string> = Flags extends `${string}--${infer Name} ${string}`
  ? Name
  : Flags extends `${string}--${infer Name}`
    ? Name
    : never;
type CamelCase<Name extends string> = Name extends `${infer First}-${infer Rest}` ? `${First}${Capitalize<CamelCase<Rest>>}` : Name;
type Parsed<Settings> = Settings extends { parse: (...given: never) => infer Value }
  ? Value
  : Settings extends { choices: readonly (infer Choice)[] }
    ? Choice
    : string;
type Given<Flags extends string, Settings> = Flags extends `${string}<${string}`
  ? Parsed<Settings>
  : Flags extends `${string}[${string}`
    ? Parsed<Settings> | true
    : boolean;
type ValuesOf<Flags extends string, Settings> =
  NameIn<Flags> extends `no-${infer Name}`
    ? Record<CamelCase<Name>, boolean>
    : Settings extends { default: unknown } | { isMandatory: true }
      ? Record<CamelCase<NameIn<Flags>>, Given<Flags, Settings>>
      : Partial<Record<CamelCase<NameIn<Flags>>, Given<Flags, Settings>>>;

/** What a command gets of its options. */
export type OptionsOf<List extends readonly CommandOption[]> = All<List[number]>;
type All<Each> = (Each extends CommandOption<infer Values> ? (values: Values) => void : never) extends (values: infer Values) => void
  ? Values
  : never;

/** How an argument is written, and what help says of it. */
type Argument = readonly [flags: string, description?: string];

type ArgumentsOf<List extends readonly Argument[]> = {
  -readonly [index in keyof List]: List[index][0] extends `${string}...${string}`
    ? string[]
    : List[index][0] extends `[${string}`
      ? string | undefined
      : string;
};

interface CommandParts<
  Arguments extends readonly Argument[],
  Typed extends readonly CommandOption[],
  Options extends readonly CommandOption[],
> {
  arguments?: Arguments;
  /** Options that are typed, and nothing else. */
  typed?: Typed;
  /** Options that have an environment variable, too. */
  options?: Options;
  example?: string;
  run: (...given: [...ArgumentsOf<Arguments>, options: OptionsOf<Typed> & OptionsOf<Options>, self: Command]) => void | Promise<void>;
}

/** Adds what a command has to the one of commander. */
export type DefinedCommand = (command: Command) => void;

export function defineCommand<
  const Arguments extends readonly Argument[] = [],
  const Typed extends readonly CommandOption[] = [],
  const Options extends readonly CommandOption[] = [],
>({ arguments: words, typed, options, example, run }: CommandParts<Arguments, Typed, Options>): DefinedCommand {
  return (command) => {
    for (const [flags, description] of words ?? []) command.argument(flags, description);
    if (example !== undefined) command.addHelpText('after', () => asTyped(`\nFor example: ${example}`));
    for (const each of typed ?? []) command.addOption(each.create());
    for (const each of options ?? []) command.addOption(withVariable(each.create()));
    command.action(run);
  };
}

/** A command below another one. */
export function addSubcommand(command: Command, name: string, description: string, define: DefinedCommand): void {
  const below = new Command(name).description(description);
  define(below);
  command.addCommand(below);
}

/** `--log-dir` is `NOTEBRIDGE_LOG_DIR`. */
function withVariable(option: Option): Option {
  const name = `NOTEBRIDGE_${option.long?.slice(2).replaceAll('-', '_').toUpperCase()}`;
  // As people expect of environment variables: an empty one is none, and a switch is on for any value but these.
  const isUnset = (option.required ? [''] : ['', '0', 'false']).includes(process.env[name] ?? 'unset');
  return isUnset ? option : option.env(name);
}

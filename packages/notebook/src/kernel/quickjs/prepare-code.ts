import type * as acorn from 'acorn';
import { CodeError } from './code-error.js';
import { full, parse, transform } from './parsers.js';

/** Code as QuickJS runs it: a script whose names outlive it, with `await` at the top. Its lines are those of the source. */
export interface PreparedCode {
  code: string;
  /** It ends with an expression, whose value is the result. */
  hasResult: boolean;
}

interface Edit {
  start: number;
  end: number;
  text: string;
}

/**
 * TypeScript or JavaScript, a module or a script, becomes a script: types are taken out, `import` becomes a call, and what is declared at the
 * top level can be declared again. Throws a CodeError.
 */
export function prepareCode(source: string): PreparedCode {
  const { code, program } = parseCode(source);
  const last = program.body.at(-1);
  const edits: Edit[] = [];
  for (const statement of program.body) edits.push(...editTopLevel(statement, code));
  const result = last?.type === 'ExpressionStatement' ? last : last?.type === 'ExportDefaultDeclaration' ? asExpression(last) : undefined;
  if (result !== undefined) edits.push(...around(result.expression, 'await (', ')'));
  full(program, (node) => {
    if (node.type !== 'ExpressionStatement' || node === last) return;
    const { expression } = node as acorn.ExpressionStatement;
    if (isDropped(expression)) edits.push(...around(expression, '$notebridge.told(', ')'));
  });
  return { code: applyEdits(code, edits), hasResult: result !== undefined };
}

function parseCode(source: string): { code: string; program: acorn.Program } {
  const stripped = stripTypes(source);
  try {
    return { code: stripped, program: parseScript(stripped) };
  } catch (error) {
    // What the stripper took for a type may have been none.
    if (stripped !== source) {
      try {
        return { code: source, program: parseScript(source) };
      } catch {
        // The first error is that of the code as it was meant.
      }
    }
    throw toCodeError(error);
  }
}

/** Lines stay. What is no TypeScript either comes back as it is: the parser says what is wrong. */
function stripTypes(source: string): string {
  try {
    return transform(source, { transforms: ['typescript'], disableESTransforms: true, keepUnusedImports: true }).code;
  } catch {
    return source;
  }
}

function parseScript(code: string): acorn.Program {
  return parse(code, {
    ecmaVersion: 'latest',
    sourceType: 'script',
    allowAwaitOutsideFunction: true,
    allowImportExportEverywhere: true,
    allowHashBang: true,
    locations: true,
  });
}

function toCodeError(error: unknown): Error {
  if (error instanceof RangeError) return new CodeError('The code is nested too deeply.', { line: 1, column: 1 });
  if (!(error instanceof SyntaxError) || !('loc' in error)) return error as Error;
  const { line, column } = error.loc as acorn.Position;
  const text = error.message.replace(/ \(\d+:\d+\)$/, '');
  const advice = text.startsWith("'return' outside") ? ': write the value as the last expression, it is the result' : '';
  return new CodeError(`${text}${advice}`, { line, column: column + 1 });
}

function editTopLevel(statement: acorn.Program['body'][number], code: string): Edit[] {
  switch (statement.type) {
    case 'ImportDeclaration':
      return [importOf(statement, code)];
    case 'ExportNamedDeclaration': {
      const { declaration, source } = statement;
      if (source) throw refuse('Code exports nothing: import the names, and use them', statement);
      if (!declaration) return [blank(statement, code)];
      return [{ start: statement.start, end: declaration.start, text: '' }, ...editDeclaration(declaration)];
    }
    case 'ExportDefaultDeclaration': {
      const { declaration } = statement;
      const isNamed = 'id' in declaration && declaration.id !== null && /Declaration$/.test(declaration.type);
      const head: Edit = { start: statement.start, end: declaration.start, text: '' };
      if (isNamed) return [head, ...editDeclaration(declaration as acorn.Declaration)];
      return [head];
    }
    case 'ExportAllDeclaration':
      throw refuse('Code exports nothing: import the names, and use them', statement);
    default:
      return editDeclaration(statement);
  }
}

/** `let` and `const` of the top level stay for later code, which may declare the same names again. */
function editDeclaration(statement: acorn.Node): Edit[] {
  if (statement.type === 'VariableDeclaration') {
    const { kind, start, declarations } = statement as acorn.VariableDeclaration;
    if (kind === 'var') return [];
    const unset = declarations.filter(({ init }) => !init).map(({ end }): Edit => ({ start: end, end, text: ' = undefined' }));
    return [{ start, end: start + kind.length, text: 'var' }, ...unset];
  }
  if (statement.type === 'ClassDeclaration') {
    const { id, start, end } = statement as acorn.ClassDeclaration;
    return [
      { start, end: start, text: `var ${id.name} = ` },
      { start: end, end, text: ';' },
    ];
  }
  return [];
}

function asExpression({ declaration }: acorn.ExportDefaultDeclaration): { expression: acorn.Node } | undefined {
  return /Declaration$/.test(declaration.type) ? undefined : { expression: declaration };
}

/** In its place, with as many lines. */
function importOf({ specifiers, source, start, end }: acorn.ImportDeclaration, code: string): Edit {
  const lines = code.slice(start, end).replaceAll(/[^\n]/g, '');
  const rest = code.slice(0, start) + code.slice(end);
  const taken = specifiers.map((specifier) => ({
    name: specifier.type === 'ImportSpecifier' ? nameOf(specifier.imported) : specifier.type === 'ImportDefaultSpecifier' ? 'default' : '*',
    local: specifier.local.name,
  }));
  const named = taken.filter(({ name }) => name !== '*');
  const used = named.filter(({ local }) => isUsed(local, rest));
  const args = [source.value, named.map(({ name }) => name), used.map(({ name }) => name)].map((value) => JSON.stringify(value));
  const call = `await $notebridge.import(${args.join(', ')})`;
  const whole = taken.find(({ name }) => name === '*');
  const members = named.map(({ name, local }) => `${JSON.stringify(name)}: ${local}`).join(', ');
  const parts = [...(whole ? [`${whole.local} = ${call}`] : []), ...(named.length > 0 ? [`{ ${members} } = ${whole?.local ?? call}`] : [])];
  return { start, end, text: `${parts.length > 0 ? `var ${parts.join(', ')}` : call};${lines}` };
}

function nameOf(node: acorn.Identifier | acorn.Literal): string {
  return node.type === 'Identifier' ? node.name : String(node.value);
}

/** As a word somewhere: a type of that name has been taken out. */
function isUsed(name: string, code: string): boolean {
  return new RegExp(`(?<![\\w$])${name.replaceAll('$', '\\$')}(?![\\w$])`).test(code);
}

/** A call whose value nobody looks at: if it is a promise that fails, that is told. */
function isDropped(expression: acorn.Node): boolean {
  if (expression.type === 'ChainExpression') return isDropped((expression as acorn.ChainExpression).expression);
  if (expression.type !== 'CallExpression') return false;
  const { callee } = expression as acorn.CallExpression;
  if (callee.type === 'Super') return false;
  if (callee.type !== 'MemberExpression' || callee.property.type !== 'Identifier') return true;
  const isConsole = callee.object.type === 'Identifier' && callee.object.name === 'console';
  return !isConsole && !quick.has(callee.property.name);
}

/** Methods of lists, maps and sets that are called in loops, and return no promise. */
const quick: ReadonlySet<string> = new Set(['push', 'set', 'add', 'delete', 'unshift', 'splice', 'sort', 'pop', 'shift']);

function around({ start, end }: acorn.Node, before: string, after: string): Edit[] {
  return [
    { start, end: start, text: before },
    { start: end, end, text: after },
  ];
}

function blank({ start, end }: acorn.Node, code: string): Edit {
  return { start, end, text: code.slice(start, end).replaceAll(/[^\n]/g, '') };
}

function refuse(message: string, { loc }: acorn.Node): CodeError {
  return new CodeError(message, { line: loc?.start.line ?? 1, column: (loc?.start.column ?? 0) + 1 });
}

/** From the front; of those at one place the first one stands first. */
function applyEdits(code: string, edits: readonly Edit[]): string {
  const sorted = edits.map((edit, at) => ({ ...edit, at })).sort((one, other) => one.start - other.start || one.at - other.at);
  let done = 0;
  let text = '';
  for (const { start, end, text: added } of sorted) {
    text += code.slice(done, start) + added;
    done = end;
  }
  return text + code.slice(done);
}

import { Copy, Section } from '../parts.js';

const hosts = [
  ['Claude Code', 'claude-code'],
  ['Claude Desktop', 'claude-desktop'],
  ['Cursor', 'cursor'],
  ['VS Code', 'vscode'],
  ['Gemini CLI', 'gemini'],
  ['Codex', 'codex'],
] as const;

/** How agents and code come to this hub. */
export function Connect() {
  const { origin } = location;
  return (
    <>
      <Section title="An agent, to this hub">
        <p>In a terminal. It prints what to put where; with --write it merges that into the file of the host.</p>
        {hosts.map(([title, name]) => (
          <div class="host" key={name}>
            <h3>{title}</h3>
            <Copy label={`the command for ${title}`} text={`notebridge setup ${name} --url ${origin}`} />
          </div>
        ))}
      </Section>
      <Section title="Code in a kernel">
        <p>Python and TypeScript import the tools as functions. A package of them is written by:</p>
        <Copy label="the command" text="notebridge generate --out generated" />
        <p>
          Code outside of a notebook needs a token: <a href="#grants">issue a grant</a>.
        </p>
      </Section>
    </>
  );
}

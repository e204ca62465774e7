import { describeScript, type ScriptDescription } from './script-description.js';
import type { SkillScript } from './skill-files.js';
import type { Skill } from './skill-finder.js';

const longestScript = 131_072;
/** Scripts are read on the main thread, and anyone may have put them there. */
const mostBytes = 2_097_152;

/** Reads what Python scripts say of themselves, for one list: those past its bounds have no description. */
export class ScriptReader {
  #left = mostBytes;

  /** One for each script, in their order. */
  async describe({ folder }: Skill, scripts: readonly SkillScript[]): Promise<ScriptDescription[]> {
    const described: ScriptDescription[] = [];
    for (const { path } of scripts) {
      const isRead = path.toLowerCase().endsWith('.py') && this.#left > 0;
      const read = isRead ? await folder.read(path, Math.min(longestScript, this.#left)) : undefined;
      if (read?.kind === 'read') this.#left -= read.bytes.length;
      described.push(read?.kind === 'read' ? describeScript(new TextDecoder().decode(read.bytes)) : { description: '' });
    }
    return described;
  }
}

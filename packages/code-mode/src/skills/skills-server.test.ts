// @module-tag P-168

import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonObject } from '@notebridge/protocol/json';
import { type Logger, silentLogger } from '@notebridge/protocol/util/logger';
import { describe, expect, it } from 'vitest';
import { createContext } from '../../../notebridge/test/support/create-context.js';
import { callSkills, faultOf, resultOf, useSkillsPlace } from '../../../notebridge/test/support/skill-folders.js';
import { type SkillsServer, skillsMetaKey } from './skills-server.js';

const place = useSkillsPlace();
const listed = async (server: SkillsServer) => (await callSkills(server, 'list_skills'))._meta?.[skillsMetaKey] as JsonObject[];
const warnings = (): { logger: Logger; lines: string[] } => {
  const lines: string[] = [];
  return { logger: { ...silentLogger, warn: (line) => lines.push(line.replaceAll(place.root, 'R')) }, lines };
};

describe('the server "skills": lists', () => {
  it('offers the four tools of the reference', { tags: ['P-152'] }, async () => {
    const server = place.serve();
    expect((await server.listTools()).map(({ name }) => name)).toEqual([
      'list_skills',
      'load_skill',
      'read_skill_resource',
      'run_skill_script',
    ]);
    expect(await server.request('tools/list', {}, createContext('tools/list'))).toEqual({ tools: await server.listTools() });
    expect(server).toMatchObject({ name: 'skills', isConfig: false, expose: 'direct', state: { status: 'running', inFlight: 0 } });
    await expect(callSkills(server, 'list_skill')).rejects.toMatchObject({
      code: 'unknown_tool',
      message: 'Unknown skill tool: "list_skill". Available: list_skills, load_skill, read_skill_resource, run_skill_script.',
    });
  });

  it('gives the list as Markdown, and as objects beside it', async () => {
    await place.writeSkill('pdf', 'license: MIT\nversion: 2\nallowed-tools: Read\nmetadata:\n  author: me\n');
    await place.write('pdf/scripts/fill.py', '"""Fills a form."""\nimport argparse\nargparse.ArgumentParser().add_argument("form")\n');
    await place.write('pdf/scripts/__pycache__/fill.pyc', '');
    await place.write('pdf/references/forms.md', '# Forms');
    await place.write('pdf/LICENSE.txt', '');
    await place.write('pdf/.env', 'KEY=secret');
    await place.writeSkill('csv');
    const result = await callSkills(place.serve(), 'list_skills');
    expect(resultOf(result)).toBe(
      '# Skills\n\n- **csv**: Does csv.\n- **pdf**: Does pdf.\n  Scripts: `fill`\n\nRead one with `load_skill` before you use it.\n',
    );
    expect(result.content).toEqual([{ type: 'text', text: resultOf(result) }]);
    const rest = { allowed_tools: [], metadata: {}, trusted: true, scripts: [], resources: [], problems: [] };
    expect(result._meta).toEqual({
      [skillsMetaKey]: [
        { ...rest, name: 'csv', description: 'Does csv.' },
        {
          ...rest,
          name: 'pdf',
          description: 'Does pdf.',
          license: 'MIT',
          version: '2',
          allowed_tools: ['Read'],
          metadata: { author: 'me' },
          scripts: [{ name: 'fill', description: 'Fills a form.', parameters: [{ name: 'form', required: true }] }],
          resources: [{ name: 'references/forms.md' }, { name: 'LICENSE.txt' }],
        },
      ],
    });
  });

  it('describes scripts as far as they are Python, small enough, and not too many', async () => {
    await place.writeSkill('pdf');
    for (const [name, text] of Object.entries({
      'a.py': '"First."',
      'b.sh': '# "Shell"',
      'c.py': `"Large."\n${'#'.repeat(131_072)}`,
      'd.py': '"Last."',
    }))
      await place.write(`pdf/scripts/${name}`, text);
    expect(await listed(place.serve())).toMatchObject([
      {
        scripts: [
          { name: 'a', description: 'First.' },
          { name: 'b', description: '' },
          { name: 'c', description: '' },
          { name: 'd', description: 'Last.' },
        ],
      },
    ]);
    for (let index = 0; index < 40; index++) await place.write(`pdf/scripts/c${index + 10}.py`, `"Big."\n${'#'.repeat(100_000)}`);
    const [{ scripts }] = (await listed(place.serve())) as [{ scripts: JsonObject[] }];
    const descriptions = scripts.map(({ description }) => description);
    expect([descriptions.length, descriptions.filter((text) => text === 'Big.').length]).toEqual([44, 20]);
  });

  it('finds skills in folders of folders, not in hidden ones, and not in a skill', async () => {
    await place.writeSkill('one', '', 'group/deep/one');
    await place.writeSkill('inner', '', 'group/deep/one/inner');
    await place.writeSkill('hidden', '', '.git/hidden');
    await place.writeSkill('module', '', 'node_modules/module');
    await place.writeSkill('far', '', 'a/b/c/d/e/far');
    await place.write('lower/skill.md', '---\nname: lower\ndescription: d\n---\n');
    expect((await listed(place.serve())).map(({ name }) => name)).toEqual(['lower', 'one']);
    expect((await listed(place.serve({ folders: [place.source({ path: join(place.root, 'lower') })] }))).map(({ name }) => name)).toEqual([
      'lower',
    ]);
  });

  it('sees what was added, changed and removed since the last call', { tags: ['P-033'] }, async () => {
    const server = place.serve();
    expect(resultOf(await callSkills(server, 'list_skills'))).toContain('There are no skills.');
    await place.writeSkill('pdf');
    expect(await listed(server)).toMatchObject([{ name: 'pdf', description: 'Does pdf.' }]);
    await place.write('pdf/SKILL.md', '---\nname: pdf\ndescription: Other.\n---\nNew text');
    expect(await listed(server)).toMatchObject([{ name: 'pdf', description: 'Other.' }]);
    expect(resultOf(await callSkills(server, 'load_skill', { skill_name: 'pdf' }))).toContain('New text');
    await rm(join(place.root, 'pdf'), { recursive: true });
    expect(await listed(server)).toEqual([]);
    server.setFolders([]);
    expect(await listed(server)).toEqual([]);
  });

  it('takes the first of two skills of one name, and reports that and all else that is odd, once', async () => {
    await place.writeSkill('pdf');
    await place.writeSkill('pdf', '', 'pdf-2');
    await place.write('odd/SKILL.md', 'No head');
    await symlink(place.base, join(place.root, 'away'));
    const { logger, lines } = warnings();
    const server = place.serve({ logger, folders: [place.source(), place.source({ path: join(place.base, 'none') })] });
    expect(await listed(server)).toMatchObject([{ name: 'odd', description: 'No head' }, { name: 'pdf' }]);
    await listed(server);
    expect(lines).toEqual([
      '"away" in "R" leads out of the skills folder and was left out.',
      '"R/odd/SKILL.md" has no frontmatter between lines of "---".',
      '"R/odd/SKILL.md" has no "name"; that of the folder is used.',
      '"R/odd/SKILL.md" has no "description"; the first paragraph is used.',
      '"R/pdf-2/SKILL.md" has the same name as the skill in "R/pdf" and was left out.',
      `The skills folder "${join(place.base, 'none')}" is not there.`,
    ]);
  });

  it('is not kept busy by links that lead in circles', async () => {
    await place.writeSkill('pdf');
    for (let turn = 0; turn < 30; turn++) {
      await symlink('.', join(place.root, `circle-${turn}`));
      await mkdir(join(place.root, 'pdf', 'scripts'), { recursive: true });
      await symlink('.', join(place.root, 'pdf', 'scripts', `circle-${turn}`));
    }
    expect(await listed(place.serve())).toMatchObject([{ name: 'pdf', scripts: [] }]);
  });
});

describe('the server "skills": reading', () => {
  it('gives the instructions with what else there is', async () => {
    await place.writeSkill('pdf', 'compatibility: Needs poppler\n');
    await place.write('pdf/scripts/fill.py', '');
    await place.write('pdf/references/forms.md', '');
    const text =
      '# Skill: pdf\n\nDoes pdf.\n\n- Compatibility: Needs poppler\n- Resources (`read_skill_resource`): `references/forms.md`\n';
    expect(resultOf(await callSkills(place.serve(), 'load_skill', { skill_name: 'pdf' }))).toBe(
      `${text}- Scripts (\`run_skill_script\`): \`fill\`\n\n---\n\n# How to pdf\n`,
    );
    const untrusted = place.serve({ folders: [place.source({ trusted: false })] });
    expect(resultOf(await callSkills(untrusted, 'load_skill', { skill_name: 'PDF' }))).toContain(
      '- Scripts (not trusted: they are not run): `fill`',
    );
  });

  it('says which skills there are when there is none of that name', async () => {
    await place.writeSkill('pdf-forms');
    await place.writeSkill('csv');
    expect(faultOf(await callSkills(place.serve(), 'load_skill', { skill_name: 'pdf_from' }))).toEqual({
      code: 'invalid_arguments',
      text: 'There is no skill "pdf_from". Did you mean "pdf-forms"? Available: csv, pdf-forms.',
    });
    expect(faultOf(await callSkills(place.serve(), 'load_skill', {})).text).toBe(
      '"skill_name" must be a text that is not empty, found nothing.',
    );
    expect(faultOf(await callSkills(place.serve({ folders: [] }), 'load_skill', { skill_name: 'x' })).text).toBe(
      'There is no skill "x". There are none.',
    );
  });

  it('reads resources by every name that skills use for them, as text whatever they look like', async () => {
    await place.writeSkill('pdf');
    await place.write('pdf/references/forms.md', '# Forms');
    await place.write('pdf/resources/data.json', '{"a": [1]}');
    await place.write('pdf/assets/deep/t.txt', 'T');
    await place.write('pdf/NOTES.md', 'Notes');
    const server = place.serve();
    const read = async (resource_name: string) =>
      resultOf(await callSkills(server, 'read_skill_resource', { skill_name: 'pdf', resource_name }));
    for (const name of ['references/forms.md', 'forms.md', './references/forms.md']) expect(await read(name)).toBe('# Forms');
    expect(await read('resources/data.json')).toBe('{"a": [1]}');
    expect(await read('data.json')).toBe('{"a": [1]}');
    expect(await read('deep/t.txt')).toBe('T');
    expect(await read('NOTES.md')).toBe('Notes');
    expect(await read('SKILL.md')).toContain('# How to pdf');
  });

  it('gives pictures and other bytes as they are', async () => {
    await place.writeSkill('pdf');
    await place.write('pdf/assets/a.png', Buffer.from('89504e470d0a1a0a00', 'hex'));
    await place.write('pdf/assets/b é.bin', Buffer.from([0, 255, 1]));
    const read = (resource_name: string) => callSkills(place.serve(), 'read_skill_resource', { skill_name: 'pdf', resource_name });
    expect(await read('a.png')).toEqual({ content: [{ type: 'image', data: 'iVBORw0KGgoA', mimeType: 'image/png' }] });
    const uri = 'skill://pdf/assets/b%20%C3%A9.bin';
    expect(await read('assets/b é.bin')).toEqual({
      content: [{ type: 'resource', resource: { uri, mimeType: 'application/octet-stream', blob: 'AP8B' } }],
    });
  });

  it('reads nothing outside of a skill, nothing hidden and nothing too large', { tags: ['P-169'] }, async () => {
    await writeFile(join(place.base, 'secret.txt'), 'hunter22');
    await place.writeSkill('pdf');
    await place.writeSkill('other');
    await place.write('pdf/references/forms.md', 'x'.repeat(101));
    await place.write('pdf/.env', 'hunter22');
    await symlink(join(place.base, 'secret.txt'), join(place.root, 'pdf', 'references', 'link.txt'));
    await symlink(place.base, join(place.root, 'pdf', 'away'));
    await symlink('../other', join(place.root, 'pdf', 'beside'));
    const server = place.serve({ maxResourceBytes: 100 });
    const fault = async (resource_name: string) =>
      faultOf(await callSkills(server, 'read_skill_resource', { skill_name: 'pdf', resource_name }));
    for (const name of ['../secret.txt', '../../secret.txt', '/etc/passwd', 'references/../../../secret.txt', 'C:\\x', '..\\secret.txt']) {
      const { code, text } = await fault(name);
      expect(code).toBe('invalid_arguments');
      expect(text).toContain('is named from the folder of its skill');
    }
    for (const name of [
      'link.txt',
      'references/link.txt',
      'away/secret.txt',
      'beside/SKILL.md',
      '.env',
      './.env',
      'forms.md/x',
      '',
      'references',
    ]) {
      const { text } = await fault(name);
      expect(text).toMatch(/There is no resource|must be a text/);
      expect(text).not.toContain('hunter22');
    }
    expect((await fault('form.md')).text).toBe('There is no resource of the skill "pdf" called "form.md". Available: references/forms.md.');
    expect(await fault('forms.md')).toEqual({
      code: 'result_too_large',
      text: 'The resource "references/forms.md" is 101 bytes large; at most 100 are read.',
    });
  });
});

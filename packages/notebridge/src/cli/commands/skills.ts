import { Command } from 'commander';
import { sharedOptions } from '../command-options.js';

/** `notebridge skills`: what code of agents has saved, and whether others may run it. */
export function skillsCommand(): Command {
  const { json } = sharedOptions;
  const command = new Command('skills')
    .description('the skills that code of agents has saved: list them, trust them for all, delete them')
    .addOption(json())
    .action(async (options: { json?: boolean }) => {
      const { listSkills } = await import('../skills/run-skills.js');
      await listSkills(options);
    });
  command.addCommand(
    new Command('list')
      .description('whose they are, and which everyone may run')
      .addOption(json())
      .action(async (_: unknown, self: Command) => {
        const { listSkills } = await import('../skills/run-skills.js');
        await listSkills(self.optsWithGlobals());
      }),
  );
  command.addCommand(
    new Command('show')
      .description('its instructions, code and tests, and how to trust exactly these')
      .argument('<skill>', 'its name, or its id if several have that name')
      .action(async (skill: string) => {
        const { showSkill } = await import('../skills/run-skills.js');
        await showSkill(skill);
      }),
  );
  command.addCommand(
    new Command('trust')
      .description('let every agent see and run it, each with its own rights, until it is saved anew')
      .argument('<skill@version>', 'as the last line of `skills show` has it')
      .action(async (skill: string) => {
        const { trustSkill } = await import('../skills/run-skills.js');
        await trustSkill(skill, true);
      }),
  );
  command.addCommand(
    new Command('distrust')
      .description('leave it to its saver alone')
      .argument('<skill>', 'its name, or its id if several have that name')
      .action(async (skill: string) => {
        const { trustSkill } = await import('../skills/run-skills.js');
        await trustSkill(skill, false);
      }),
  );
  command.addCommand(
    new Command('delete')
      .description('delete skills')
      .argument('<skill...>', 'names, or ids')
      .action(async (skills: string[]) => {
        const { deleteSkills } = await import('../skills/run-skills.js');
        await deleteSkills(skills);
      }),
  );
  return command;
}

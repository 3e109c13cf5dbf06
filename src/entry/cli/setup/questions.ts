import { type Host, hosts, type Scope } from '../../../coding-agents/hosts/index.ts';
import { CommandFailure, EXIT } from '../exit.ts';

/** What a person chose. */
export interface SetupChoice {
  readonly hosts: readonly Host[];
  readonly scope: Scope;
  readonly packs: readonly string[];
}

const SCOPES = [
  { value: 'project', label: 'This project', hint: 'settings that everyone who uses the repository shares' },
  { value: 'user', label: 'All my projects', hint: 'settings in your home folder' },
] as const;

/**
 * Asks which agents, for whom, and with which policy packs.
 * @param found the agents of this machine, which are chosen beforehand
 * @throws CommandFailure when the person presses Ctrl-C; nothing was written
 */
export async function askSetup(found: readonly Host[]): Promise<SetupChoice> {
  const { multiselect, select } = await import('@clack/prompts');
  const names = await answered(
    multiselect({
      message: 'Which coding agents shall ask before they act? (space selects, enter confirms)',
      options: hosts.map((host) => ({
        value: host.name,
        label: host.label,
        ...(found.includes(host) && { hint: 'found on this machine' }),
      })),
      initialValues: found.map(({ name }) => name),
      required: false,
    }),
  );
  const chosen = hosts.filter(({ name }) => names.includes(name));
  const scope: Scope =
    chosen.length === 0
      ? 'project'
      : await answered(select<Scope>({ message: 'For which projects?', options: [...SCOPES] }));
  const { bundledSkills } = await import('../../../runtime/skills/index.ts');
  const skills = await bundledSkills();
  const packs = await answered(
    multiselect({
      message: 'Which policy packs? More can be added later with `skills add`.',
      options: skills.map(({ name, description }) => ({ value: name, label: name, hint: description })),
      initialValues: chosen.length === 0 ? [] : ['coding-agent'],
      required: false,
    }),
  );
  return { hosts: chosen, scope, packs };
}

async function answered<Answer>(question: Promise<Answer>): Promise<Exclude<Answer, symbol>> {
  const answer = await question;
  if (typeof answer === 'symbol')
    throw new CommandFailure(EXIT.interrupted, 'interrupted', 'Stopped: nothing was written.');
  return answer as Exclude<Answer, symbol>;
}

import { codingAgents } from '../../../coding-agents/coding-agents.ts';
import type { CodingAgent } from '../../../coding-agents/record/coding-agent.ts';
import type { SettingsScope } from '../../../coding-agents/record/settings.ts';
import { CommandFailure, EXIT } from '../../../operations/cli-kit/command-failure.ts';

/** The user's choices. */
export interface SetupChoice {
  readonly agents: readonly CodingAgent[];
  readonly scope: SettingsScope;
  readonly packs: readonly string[];
}

const SCOPES = [
  { value: 'project', label: 'This project', hint: 'settings that everyone who uses the repository shares' },
  { value: 'user', label: 'All my projects', hint: 'settings in your home folder' },
] as const;

/**
 * Asks which agents, for whom, and with which policy packs.
 * @param found the agents of this machine, which are preselected
 * @param mcpServers the MCP servers of these agents; with any, the pack for their tools is preselected
 * @throws CommandFailure if the user presses Ctrl-C; nothing was written
 */
export async function askSetup(
  found: readonly CodingAgent[],
  mcpServers: readonly string[],
): Promise<SetupChoice> {
  const { multiselect, select } = await import('@clack/prompts');
  const names = await awaitAnswer(
    multiselect({
      message: 'Which coding agents do you want to guard? (space selects, enter confirms)',
      options: codingAgents.map((agent) => ({
        value: agent.name,
        label: agent.label,
        ...(found.includes(agent) && { hint: 'found on this machine' }),
      })),
      initialValues: found.map(({ name }) => name),
      required: false,
    }),
  );
  const chosen = codingAgents.filter(({ name }) => names.includes(name));
  const scope: SettingsScope =
    chosen.length === 0
      ? 'project'
      : await awaitAnswer(select<SettingsScope>({ message: 'For which projects?', options: [...SCOPES] }));
  const { openBundledSkills } = await import('../../../runtime/skills/index.ts');
  const skills = await openBundledSkills();
  const packs = await awaitAnswer(
    multiselect({
      message: 'Which policy packs? More can be added later with `skills add`.',
      options: skills.map(({ name, description }) => ({ value: name, label: name, hint: description })),
      initialValues: listPreselectedPacks(chosen.length > 0, mcpServers),
      required: false,
    }),
  );
  return { agents: chosen, scope, packs };
}

/** Returns the packs that are selected before the user answers. */
export function listPreselectedPacks(guardsAgents: boolean, mcpServers: readonly string[]): string[] {
  return [...(guardsAgents ? ['coding-agent'] : []), ...(mcpServers.length > 0 ? ['information-flow'] : [])];
}

async function awaitAnswer<Answer>(question: Promise<Answer>): Promise<Exclude<Answer, symbol>> {
  const answer = await question;
  if (typeof answer === 'symbol')
    throw new CommandFailure(EXIT.interrupted, 'interrupted', 'Stopped: nothing was written.');
  return answer as Exclude<Answer, symbol>;
}

import type { CodingAgent } from '../../../coding-agents/record/coding-agent.ts';
import type { Machine } from '../../../coding-agents/record/settings.ts';
import { CommandFailure, EXIT } from '../../../operations/cli-kit/command-failure.ts';
import type { Terminal } from '../../../operations/cli-kit/terminal.ts';
import { formatProblem } from '../../../runtime/config/index.ts';
import { loadPolicy } from '../../../runtime/policies/index.ts';
import { loadCliConfig } from '../load-cli-config.ts';
import { judgePastCalls, type PastReport } from './judge-past-calls.ts';

/**
 * Judges the agents' past calls under a project's policy.
 * @param path the configuration; without it, the one that commands find in the project
 */
export async function replayTranscripts(
  agents: readonly CodingAgent[],
  machine: Machine,
  path: string | undefined,
  terminal: Terminal,
): Promise<PastReport> {
  const config = await loadCliConfig(
    { ...terminal, cwd: path === undefined ? machine.project : terminal.cwd },
    path,
  );
  const made = await loadPolicy(config);
  if (!made.ok)
    throw new CommandFailure(EXIT.usage, 'invalid_configuration', 'The configuration is not valid.', {
      details: made.problems,
      lines: made.problems.map(formatProblem),
      hint: 'Find the problems with `customshouse validate`.',
    });
  return judgePastCalls({ agents, machine, config, policy: made.policy, now_ms: Date.now });
}

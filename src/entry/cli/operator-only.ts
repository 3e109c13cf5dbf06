import type { Command } from 'commander';
import { requiresOperator } from '../../core/detect/guard/deciding-commands.ts';
import { CommandFailure, EXIT } from '../../operations/cli-kit/command-failure.ts';
import type { Terminal } from '../../operations/cli-kit/terminal.ts';
import type { AgentEvidence } from '../../runtime/access/agent-ancestor.ts';

/**
 * Refuses commands that decide about agents if a coding agent started this process. A terminal alone proves nothing,
 * because an agent can open one.
 *
 * @throws CommandFailure `operator_only`
 */
export async function refuseBelowAgent(command: Command, terminal: Terminal): Promise<void> {
  const words = getWords(command);
  if (!requiresOperator(words)) return;
  const { findAgentAncestor } = await import('../../runtime/access/agent-ancestor.ts');
  const { readLineage } = await import('../../runtime/access/lineage.ts');
  const evidence = findAgentAncestor(terminal.env, (terminal.readLineage ?? readLineage)());
  if (evidence === null) return;
  throw new CommandFailure(
    EXIT.no,
    'operator_only',
    `\`${words.filter((word) => !word.startsWith('-')).join(' ')}\` is for an operator, and ${SAYS[evidence.kind](evidence)}`,
    {
      hint: 'Run it in a terminal that you opened yourself, or send the request over HTTP with an operator credential (docs/how-to/approve-tool-calls.md).',
    },
  );
}

const SAYS: { readonly [Kind in AgentEvidence['kind']]: (evidence: AgentEvidence) => string } = {
  process: (evidence) =>
    evidence.kind === 'process'
      ? `the coding agent \`${evidence.agent}\` (process ${evidence.pid}) started this process.`
      : '',
  variable: (evidence) =>
    evidence.kind === 'variable' ? `\`${evidence.name}\` says that a coding agent started this process.` : '',
  orphan: () => 'this process has no terminal and no parent that says who started it.',
  unknown: () =>
    'the processes above this one cannot be listed, so it may be a coding agent that started it.',
};

/** The flags that make a command a deciding one. */
const FLAGS = ['uninstall', 'apply'];

/** Returns the names of a command and its parents, without the program's, and the flags that matter here. */
function getWords(command: Command): readonly string[] {
  const names: string[] = [];
  for (let at: Command | null = command; at?.parent; at = at.parent) names.unshift(at.name());
  const options = command.opts();
  return [...names, ...FLAGS.filter((name) => options[name] === true).map((name) => `--${name}`)];
}

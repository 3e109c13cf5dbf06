import { codingAgents } from '../../../coding-agents/coding-agents.ts';
import { suggestName } from '../../../core/policy/compile/problems.ts';
import { agentFrameworks } from '../../../operations/agent-frameworks.ts';
import { CommandFailure, EXIT } from '../../../operations/cli-kit/command-failure.ts';
import { formatTable } from '../../../operations/cli-kit/format-table.ts';
import { printJson, printLine, type Terminal } from '../../../operations/cli-kit/terminal.ts';

/** All names that can be set up: coding agents, frameworks, and `generic` for manual steps. */
export const setupNames: readonly string[] = [
  ...[...codingAgents, ...agentFrameworks].map(({ name }) => name),
  'generic',
];

/** Returns the failure for an unknown name, with a similar name and the list of all. */
export function explainUnknownSetupName(name: string): CommandFailure {
  const longer = setupNames.find((each) => name.length > 2 && each.startsWith(name));
  const near = longer === undefined ? suggestName(name, setupNames) : `; did you mean \`${longer}\`?`;
  return new CommandFailure(EXIT.usage, 'unknown_name', `There is no \`${name}\` to set up${near || '.'}`, {
    hint: `There are: ${setupNames.join(', ')}. \`customshouse setup generic\` says what to do elsewhere.`,
  });
}

/** Lists all of them. */
export function printSetupNames(asJson: boolean, terminal: Terminal): void {
  const machine = { project: '.', home: '~', env: {} };
  const rows = [
    ...codingAgents.map(({ name, label, settings }) => ({
      name,
      label,
      kind: 'coding agent',
      scopes: settings.targets(machine).map(({ scope }) => scope),
    })),
    ...agentFrameworks.map(({ name, label }) => ({ name, label, kind: 'framework', scopes: [] })),
    { name: 'generic', label: 'anything else', kind: 'by hand', scopes: [] },
  ];
  if (asJson) {
    printJson(terminal, { integrations: rows });
    return;
  }
  const cells = rows.map(({ name, kind, label, scopes }) => [name, kind, label, scopes.join(', ')]);
  for (const line of formatTable(['NAME', 'KIND', 'FOR', 'SCOPES'], cells)) printLine(terminal, line);
}

import { loadFramework } from '../../src/features/compliance/frameworks.ts';
import type { ControlMapping, FrameworkMapping } from '../../src/features/compliance/mapping-types.ts';
import { getMechanism } from '../../src/features/compliance/mechanisms.ts';
import { FRAMEWORK_IDS } from '../../src/operations/compliance-frameworks.ts';

/** Returns the text of docs/reference/compliance-frameworks.md: the controls of all frameworks and what carries them. */
export function renderCompliancePage(): string {
  const frameworks = FRAMEWORK_IDS.map(loadFramework);
  return `<!-- Written by \`npm run generate\`. -->
# Compliance frameworks

This reference is for compliance officers and auditors. It lists the controls that [compliance reports](../how-to/report-compliance.md) cover, with
the parts of the service that carry them and the gaps that remain. It is made from the files in \`data/compliance\`. The texts are our own; compare them with
the source.

The coverage is the share of the clause that this service can carry: \`full\`, \`part\` or \`none\`.

| Framework | Edition | Controls | Full | Part | None | Reviewed |
|---|---|---|---|---|---|---|
${frameworks.map(describeFramework).join('\n')}

${frameworks.map(describeControls).join('\n\n')}
`;
}

function describeFramework({ framework, edition, controls, reviewed }: FrameworkMapping): string {
  const count = (coverage: ControlMapping['coverage']) =>
    controls.filter((each) => each.coverage === coverage).length;
  return `| \`${framework}\` | ${edition} | ${controls.length} | ${count('full')} | ${count('part')} | ${count('none')} | ${reviewed} |`;
}

function describeControls({ framework, title, controls, sources, scope }: FrameworkMapping): string {
  return `## ${title} (\`${framework}\`)

${scope.join(' ')}

Sources: ${sources.map((each) => `[${each.title}](${each.url})`).join(', ')}.

| Control | Coverage | Carried by | Not from this service |
|---|---|---|---|
${controls.map(describeControl).join('\n')}`;
}

function describeControl(control: ControlMapping): string {
  const { control_id, title, coverage, gaps, contribution } = control;
  const carried = [contribution, listCarriers(control)].filter((each) => each !== '').join('<br>');
  return `| **${control_id}** ${title} | \`${coverage}\` | ${carried} | ${gaps.join(' ')} |`;
}

function listCarriers({ tags, mechanisms }: ControlMapping): string {
  const data = tags.map(
    ({ tag, places, expect }) =>
      `\`${tag}\` ${expect === 'act' ? 'stopped' : 'recorded'} in ${places.map((place) => PLACES[place]).join(', ')}`,
  );
  return [...mechanisms.map((name) => getMechanism(name).title.toLowerCase()), ...data].join('; ');
}

const PLACES = { input: 'input', call: 'tool calls', result: 'tool results', output: 'output' } as const;

import { listDerivedGroups } from '../../src/entry/cli/derived-verbs.ts';
import { operations } from '../../src/server/operations.ts';

/** Returns the text of src/entry/cli/derived-groups.ts, with which help does not load the operation records. */
export function renderDerivedGroupsModule(): string {
  const groups = [...listDerivedGroups(operations)].sort(([one], [other]) => (one < other ? -1 : 1));
  const entries = groups.map(([name, summary]) => `  { name: '${name}', summary: ${quoteText(summary)} },\n`);
  return `// Written by \`npm run generate\` from the operation records.
// biome-ignore-all format: one entry per line keeps the changes small.
/** The first words of the commands that are derived from operation records, and their summaries. */
export const DERIVED_GROUPS: readonly { readonly name: string; readonly summary: string }[] = [
${entries.join('')}];
`;
}

function quoteText(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

import { KIND_FAMILIES, TYPE_PATTERNS } from '../../src/features/quality/index.ts';

/**
 * Returns the text of docs/reference/type-names.md: the names of our types of personal data in other
 * products.
 */
export function renderTypeNamesPage(): string {
  const names = Object.entries(TYPE_PATTERNS).map(
    ([name, rules]) => `| \`${name}\` | ${formatList(rules.map((rule) => `${rule}*`))} |`,
  );
  const kinds = Object.entries(KIND_FAMILIES).map(
    ([end, families]) => `| \`CC_${end}\` | ${formatList(families)} |`,
  );
  return `<!-- Written by \`npm run generate\`. -->
# Names of personal data types

This reference is for users of \`customshouse bench --category pii\`. Labelled corpora have their own names for types of personal data. The type of a finding counts as right by
this map, in this order:

1. The name has a row: the listed rules are right, \`*\` matches any ending.
2. The name is \`CC_REST\`, with a country of two letters (\`UK\` is \`gb\`), and rules \`cc.rest*\` exist: those are right.
3. The end of the name is a kind: rules of that country, or of no country (\`any.\`), in one of the families are right.
4. Otherwise any rule of that country is right.

| Name | Rules |
|---|---|
${names.join('\n')}

| Kind | Families |
|---|---|
${kinds.join('\n')}
`;
}

function formatList(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ');
}

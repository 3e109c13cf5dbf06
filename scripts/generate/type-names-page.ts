import { KINDS, TYPE_NAMES } from '../../src/features/quality/index.ts';

/** docs/reference/type-names.md: how our types of personal data are called elsewhere. */
export function typeNamesPage(): string {
  const names = Object.entries(TYPE_NAMES).map(
    ([name, rules]) => `| \`${name}\` | ${list(rules.map((rule) => `${rule}*`))} |`,
  );
  const kinds = Object.entries(KINDS).map(([end, families]) => `| \`CC_${end}\` | ${list(families)} |`);
  return `<!-- Written by \`npm run generate\`. -->
# Names of types

Labelled corpora have names of their own for types of personal data. \`service bench --category pii\` counts the type of a
finding as right by this map, in this order:

1. the name has a row: right are the rules that it lists, \`*\` stands for any ending;
2. the name is \`CC_REST\`, with a country of two letters (\`UK\` is \`gb\`), and there are rules \`cc.rest*\`: right are those;
3. its end names a kind: right are rules of that country, or of no country (\`any.\`), in one of the families;
4. nothing of this knows the name: right is any rule of that country.

| Name | Rules |
|---|---|
${names.join('\n')}

| Kind | Families |
|---|---|
${kinds.join('\n')}
`;
}

function list(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ');
}

import { commandRules } from '../../src/core/commands/rules/index.ts';

const HEAD = `# Dangerous commands

<!-- Made by \`npm run generate\` from the rules. -->

What is found in commands, by the \`rule_id\` that a violation carries: what it does and why that matters, and what to
do instead. A rule looks at what would run, whatever it is wrapped in (\`bash -c\`, \`sudo\`, \`xargs\`, \`find -exec\`,
\`ssh\`, here-documents, substitutions, variables with known values), and not at what is printed, searched for or
committed. \`critical\` ones are blocked in tool arguments by the built-in rules, all others are flagged.

A script is read to its end up to 131,072 UTF-16 units, 10 levels of wrapping, and 56 units of counted work for each
UTF-16 unit (an ordinary script takes about 8); past that it counts as not fully looked at, which blocks.`;

/** `docs/commands.md`, whole. */
export function commandsPage(): string {
  const tags = [...new Set(commandRules.map(({ tag }) => tag))].sort();
  const sections = tags.map((tag) => {
    const rows = commandRules
      .filter((rule) => rule.tag === tag)
      .map(
        ({ id, severity, description, safer }) =>
          `| \`${id}\` | ${severity} | ${description} | ${code(safer)} |`,
      );
    return `## ${tag}\n\n| Rule | Severity | What and why | Instead |\n|---|---|---|---|\n${rows.join('\n')}`;
  });
  return `${[HEAD, ...sections].join('\n\n')}\n`;
}

/** As code in a table, where a bar would end the cell. */
function code(text: string): string {
  return `\`${text.replaceAll('|', '\\|')}\``;
}

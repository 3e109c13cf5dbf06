import { commandRules } from '../../src/core/detect/commands/rules/index.ts';

const HEAD = `# Dangerous commands

<!-- Made by \`npm run generate\` from the rules. -->

This reference is for policy authors and developers. It lists the rules for dangerous commands by the \`rule_id\` of a violation: what a command does,
why that matters, and what to use instead. A rule evaluates what would run, in any wrapping (\`bash -c\`, \`sudo\`, \`xargs\`, \`find -exec\`, \`ssh\`,
here-documents, substitutions, variables with known values). It ignores text that is printed, searched for or committed. The built-in rules block
\`critical\` commands in tool arguments and flag all others.

The parser follows:

- programs that run other programs: package runners, version managers, multiplexers, containers, remote shells, \`git\` with \`--exec\` or \`foreach\`,
  editors and consoles with \`!\`, code that calls a shell, and programs of your own under \`command_detection.wrappers\`;
- variables that a program runs (\`PAGER\`, \`GIT_SSH_COMMAND\`), functions with their arguments, loops, lists, braces and expansions of known values;
- files that the same script wrote, and the output of \`echo\`, \`printf\`, \`base64 -d\` and similar programs;
- arguments of a tool in any form: program and arguments in any order of members, lists of lines or of words, JSON in strings, and the working folder of
  another member. The working folder that \`cd\` enters counts for relative paths.

A script is parsed completely up to 131,072 UTF-16 units, 10 levels of wrapping, and 56 units of counted work for each UTF-16 unit (an ordinary script takes
about 8). Beyond these limits it counts as not fully scanned, which blocks.`;

/** Returns the text of `docs/reference/dangerous-commands.md`. */
export function renderDangerousCommandsPage(): string {
  const tags = [...new Set(commandRules.map(({ tag }) => tag))].sort();
  const sections = tags.map((tag) => {
    const rows = commandRules
      .filter((rule) => rule.tag === tag)
      .map(
        ({ id, severity, description, safer }) =>
          `| \`${id}\` | ${severity} | ${description} | ${formatCode(safer)} |`,
      );
    return `## ${tag}\n\n| Rule | Severity | What and why | Instead |\n|---|---|---|---|\n${rows.join('\n')}`;
  });
  return `${[HEAD, ...sections].join('\n\n')}\n`;
}

/** Formats a text as code in a table, where a bar would end the cell. */
function formatCode(text: string): string {
  return `\`${text.replaceAll('|', '\\|')}\``;
}

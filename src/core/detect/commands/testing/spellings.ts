/** Spellings of one command, for tests that expect the same severity for all. */
import { SEVERITIES } from '../../../types/index.ts';
import { judgeScript } from '../judge.ts';

/** Spellings around a command that leave its effect. The last six replace or precede its first word. */
export const SPELLINGS: readonly ((command: string) => string)[] = [
  (command) => command,
  (command) => `true && (${command})`,
  (command) => `bash <<'END'\n${command}\nEND`,
  (command) => `{ ${command}; }`,
  (command) => command.replace(/^(\w+) /, '$1 \\\n  '),
  (command) => command.replace(/^(\w+) /, 'sudo $1 '),
  (command) => command.replace(/^(\w+) /, 'env A=1 $1 '),
  (command) => command.replace(/^(\w)(\w+) /, '"$1"$2 '),
  (command) => command.replace(/^(\w+) /, 'rtk $1 '),
  (command) => command.replace(/^(\w+) /, 'x=$1; $x '),
];

/** Returns the worst severity of the rules whose id begins as given; `none` without a match. */
export function findWorstSeverity(script: string, ids: RegExp): string {
  const found = judgeScript(script).matches.filter(({ rule }) => ids.test(rule.id));
  return SEVERITIES.toReversed().find((each) => found.some(({ rule }) => rule.severity === each)) ?? 'none';
}

import { listSchemaContracts } from '../../policy/compile/argument-type-problems.ts';
import { suggestName } from '../../policy/compile/problems.ts';
import { findUnknownArgument } from '../../policy/conditions/argument-types.ts';
import { parseArgumentPath } from '../../policy/conditions/arguments.ts';
import { matchesAnyCase } from '../../tags.ts';
import type { Policy, Rule } from '../../types/index.ts';
import { formatNameList } from '../rule-trace.ts';
import type { LintRemark } from './remark.ts';

/** Returns remarks on arguments in conditions: names that no contract has, and tools without a schema for them. */
export function findArgumentRemarks({ rules, contracts }: Policy): readonly LintRemark[] {
  return rules.flatMap((rule) => {
    const { reads } = rule;
    if (reads === undefined) return [];
    return [...findUnknownRemarks(rule, contracts), ...findSchemalessRemarks(rule, contracts)];
  });
}

function findUnknownRemarks(rule: Rule, contracts: Policy['contracts']): LintRemark[] {
  return listSchemaContracts(rule, contracts).flatMap((contract) =>
    rule.reads!.arguments.flatMap((path): LintRemark[] => {
      const unknown = findUnknownArgument(contract.arguments, parseArgumentPath(path));
      if (unknown === null) return [];
      const near = suggestName(unknown.name, unknown.known);
      const message = `The rule \`${rule.name}\` reads the argument \`${path}\`, which the contract of \`${contract.tool_name}\` has not${near === '' ? '.' : near}`;
      return [{ id: 'unknown-argument', record: rule, part: 'condition', is_misspelt: near !== '', message }];
    }),
  );
}

function findSchemalessRemarks(rule: Rule, contracts: Policy['contracts']): LintRemark[] {
  const known = listSchemaContracts(rule, contracts);
  const open = rule.tools.filter(
    (tool) => !tool.includes('*') && !known.some(({ tool_name }) => matchesAnyCase([tool], tool_name)),
  );
  if (open.length === 0) return [];
  const message = `The rule \`${rule.name}\` reads arguments of ${formatNameList(open)}, and no contract has a schema for them, so their names and types are not checked.`;
  return [{ id: 'argument-without-schema', record: rule, part: 'condition', message }];
}

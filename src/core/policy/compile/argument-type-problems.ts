import { matchesAnyCase } from '../../tags.ts';
import type { DocumentProblem, Rule, ToolContract } from '../../types/index.ts';
import type { ConditionCompiler } from '../conditions/facts.ts';
import { buildChildLocation, buildDocumentProblem } from './problems.ts';
import type { LocatedRecord } from './records.ts';
import type { LocatedRule } from './rules.ts';

/** Returns the contracts that have a schema for a rule's arguments. */
export function listSchemaContracts(
  { tools, tenant_id }: Pick<Rule, 'tools' | 'tenant_id'>,
  contracts: readonly ToolContract[],
): readonly ToolContract[] {
  return contracts.filter(
    (contract) =>
      contract.arguments !== null &&
      matchesAnyCase(tools, contract.tool_name) &&
      (tenant_id === null || contract.tenant_id === null || contract.tenant_id === tenant_id),
  );
}

/**
 * Returns problems for rules whose condition never has a result, because the schema in each tool's contract gives an
 * argument another type: such a rule blocks every call, or allows none.
 */
export function findArgumentTypeProblems({
  rules,
  contracts,
  conditions,
}: {
  readonly rules: readonly LocatedRule[];
  readonly contracts: readonly LocatedRecord<ToolContract>[];
  readonly conditions: ConditionCompiler | undefined;
}): DocumentProblem[] {
  if (conditions === undefined) return [];
  const all = contracts.map(({ record }) => record);
  return rules.flatMap(({ rule, mark, place }) => {
    const reading = rule ?? mark;
    if (reading === null || reading.when === null || reading.reads === undefined) return [];
    const { when } = reading;
    const own = listSchemaContracts(reading, all);
    const problems = own.map((contract) => conditions.findTypeProblem(when, contract.arguments));
    const [first] = problems;
    if (first == null || problems.includes(null)) return [];
    const what = `never has a result, because the contract of \`${own[0]!.tool_name}\` gives the argument another type: ${first}`;
    return [buildDocumentProblem(buildChildLocation(place, 'condition', 'when'), what)];
  });
}

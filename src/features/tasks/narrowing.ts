import { isGreater, parseDecimal } from '../../core/policy/conditions/decimal.ts';
import { matchesName } from '../../core/tags.ts';
import { hasSources, readHashes, readTools } from './misfit.ts';
import type { TaskRow, TaskTerms, TaskValue, WiderThanTask } from './types.ts';
import type { HashValue } from './values.ts';

/**
 * Returns the first term that asks for more than the parent has; `null` if none does. Calls are checked against the
 * parent's terms as well, so that this is help for the caller and not the only check.
 */
export function findWiderTerm(
  { tools, values, sources, sums, calls_max, cost_max }: TaskTerms,
  parent: TaskRow,
  hashForParent: HashValue,
): WiderThanTask | null {
  const wider = (path: string, name: string): WiderThanTask => ({
    path,
    message: `has \`${name}\`, which the task does not allow`,
  });
  const tool = tools.find((name) => !isToolWithin(name, readTools(parent.tools)));
  if (tool !== undefined) return wider('tools', tool);
  const isWithin = (path: string, list: readonly TaskValue[], known: readonly string[]): boolean =>
    list.every((each) => known.includes(hashForParent(path, each) ?? ''));
  const permitted = readHashes(parent.permitted);
  const argument = Object.keys(values).find((path) => {
    const known = permitted[path];
    return known !== undefined && !isWithin(path, values[path]!, known);
  });
  if (argument !== undefined) return wider('values', argument);
  const known = readHashes(parent.source_calls);
  const source = Object.keys(sources).find((path) => !isWithin(path, sources[path]!, known[path] ?? []));
  // Agents delegate tasks, so that only the first one can make a result a source.
  if (source !== undefined)
    return hasSources(parent)
      ? wider('sources', source)
      : { path: 'sources', message: 'is a term of the first task alone, and that task has none' };
  const limits = JSON.parse(parent.sums) as Record<string, string>;
  const sum = Object.keys(sums).find(
    (path) => limits[path] !== undefined && isLarger(sums[path]!, limits[path]),
  );
  if (sum !== undefined) return wider('sums', sum);
  if (parent.calls_max !== null && (calls_max ?? Number.POSITIVE_INFINITY) > parent.calls_max)
    return wider('calls_max', String(calls_max));
  return parent.cost_max !== null && (cost_max === null || isLarger(cost_max, parent.cost_max))
    ? wider('cost_max', String(cost_max))
    : null;
}

/** A pattern is within another only if it is the same, because only names can be compared with patterns. */
function isToolWithin(name: string, tools: readonly string[]): boolean {
  return tools.some(
    (known) => known === '*' || known === name || (!name.includes('*') && matchesName(known, name)),
  );
}

function isLarger(text: string, limit: string): boolean {
  const [sum, most] = [parseDecimal(text), parseDecimal(limit)];
  return sum === null || most === null || isGreater(sum, most);
}

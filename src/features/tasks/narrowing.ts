import { isGreater, parseDecimal } from '../../core/policy/conditions/decimal.ts';
import { matchesName } from '../../core/tags.ts';
import { readTools } from './misfit.ts';
import type { TaskRow, TaskTerms, WiderThanTask } from './types.ts';
import type { HashValue } from './values.ts';

/**
 * Returns the first term that asks for more than the parent has; `null` if none does. Calls are checked against the
 * parent's terms as well, so that this is help for the caller and not the only check.
 */
export function findWiderTerm(
  { tools, values, sums, calls_max }: TaskTerms,
  parent: TaskRow,
  hashForParent: HashValue,
): WiderThanTask | null {
  const wider = (path: string, name: string): WiderThanTask => ({
    path,
    message: `has \`${name}\`, which the task does not allow`,
  });
  const tool = tools.find((name) => !isToolWithin(name, readTools(parent.tools)));
  if (tool !== undefined) return wider('tools', tool);
  const permitted = JSON.parse(parent.permitted) as Record<string, readonly string[]>;
  const argument = Object.keys(values).find((path) => {
    const known = permitted[path];
    return (
      known !== undefined && !values[path]!.every((each) => known.includes(hashForParent(path, each) ?? ''))
    );
  });
  if (argument !== undefined) return wider('values', argument);
  const limits = JSON.parse(parent.sums) as Record<string, string>;
  const sum = Object.keys(sums).find(
    (path) => limits[path] !== undefined && isLarger(sums[path]!, limits[path]),
  );
  if (sum !== undefined) return wider('sums', sum);
  return parent.calls_max !== null && (calls_max ?? Number.POSITIVE_INFINITY) > parent.calls_max
    ? wider('calls_max', String(calls_max))
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

import type {
  ConditionReads,
  DocumentProblem,
  Json,
  JsonObject,
  TotalQuery,
  WrittenTotal,
} from '../../types/index.ts';
import { TOTAL_SCOPES, type TotalScope } from '../../types/index.ts';
import { type ArgumentPath, formatArgumentPath } from '../conditions/arguments.ts';
import type { ConditionCompiler } from '../conditions/facts.ts';
import { parseDurationMs } from './duration.ts';
import { buildChildLocation, buildDocumentProblem, type DocumentLocation, formatNames } from './problems.ts';

/** Returns the reads of a condition without problems; `null` if it reads neither arguments nor totals. */
export function buildReads(
  when: string | undefined,
  tools: readonly string[],
  conditions: ConditionCompiler | undefined,
): ConditionReads | null {
  if (when === undefined || conditions === undefined) return null;
  const { arguments: read, tested, totals, names_tag, names_origin } = conditions.findReads(when);
  if (read.length + tested.length + totals.length === 0) return null;
  return {
    arguments: [...new Set([...read, ...tested].map(formatArgumentPath))].sort(),
    totals: totals.map((written) => resolveTotal(written, tools) as TotalQuery),
    ...(names_tag && { names_tag }),
    ...(names_origin && { names_origin }),
  };
}

/** The members in a written rule that decide whether its condition may read arguments. */
interface ReadingRule {
  readonly boundary?: Json;
  readonly condition?: JsonObject;
}

/** Returns the reasons why a condition may not read arguments or totals. */
export function findReadProblems(
  { boundary, condition = {} }: ReadingRule,
  place: DocumentLocation,
  conditions: ConditionCompiler | undefined,
): DocumentProblem[] {
  const { when } = condition;
  if (typeof when !== 'string' || conditions === undefined || conditions.findProblem(when) !== null)
    return [];
  const { arguments: read, tested, totals } = conditions.findReads(when);
  if (read.length + tested.length + totals.length === 0) return [];
  const report = (path: readonly string[], what: string) => [
    buildDocumentProblem(buildChildLocation(place, ...path), what),
  ];
  if (!toList(boundary).every((name) => name === 'action'))
    return report(
      ['condition', 'when'],
      'reads arguments, which only the boundary `action` has; write a rule for it alone',
    );
  if (condition.phase !== undefined && !toList(condition.phase).every((phase) => phase === 'request'))
    return report(
      ['condition', 'phase'],
      'must be `request`, because `when` reads arguments; remove the key',
    );
  const tools = listTools(condition);
  const open = hasToolNames(tools) ? undefined : read.find((path) => !isTested(path, tested));
  if (open !== undefined)
    return report(
      ['condition', 'when'],
      `reads \`args\` of every tool, and blocks those without \`${formatArgumentPath(open)}\`; name tools under \`tools\`, or test it with \`has(args.${formatArgumentPath(open.slice(0, 1))})\``,
    );
  return totals.flatMap((written) => {
    const total = resolveTotal(written, tools);
    return typeof total === 'string' ? report(['condition', 'when'], total) : [];
  });
}

function listTools({ tool, tools }: JsonObject): readonly string[] {
  return [...toList(tool), ...toList(tools)].filter((name) => typeof name === 'string');
}

function hasToolNames(tools: readonly string[]): boolean {
  return tools.length > 0 && !tools.some((name) => /^\*+$/.test(name));
}

function isTested([first]: ArgumentPath, tested: readonly ArgumentPath[]): boolean {
  return first !== undefined && tested.some(([name]) => name === first);
}

const WINDOW = /^[0-9]{1,9}[smhdw]$/;
const WINDOW_MAX_MS = 366 * 86_400_000;

/** Returns a total with its tool, which the rule must name; or the reason why it cannot be read. */
function resolveTotal(written: WrittenTotal, tools: readonly string[]): TotalQuery | string {
  const { function: name, path, window, scope } = written;
  const windowMs = WINDOW.test(window) ? parseDurationMs(window) : 0;
  if (windowMs === 0 || windowMs > WINDOW_MAX_MS)
    return `calls \`${name}\` with a window that is no duration up to \`366d\`, such as \`24h\``;
  if (!isScope(scope)) return `calls \`${name}\` with a scope that is not ${formatNames(TOTAL_SCOPES)}`;
  const isPathOf = (tool: string) => (name === 'count' ? path === tool : path.startsWith(`${tool}.`));
  const [tool] = tools
    .filter((each) => !each.includes('*') && isPathOf(each))
    .sort((a, b) => b.length - a.length);
  const argument = name === 'count' ? null : path.slice((tool ?? '').length + 1);
  if (tool === undefined || argument === '' || argument?.split('.').includes(''))
    return name === 'count'
      ? 'counts calls of a tool that `tools` of the rule does not name without `*`'
      : 'sums no argument of a tool that `tools` of the rule names without `*`; write `sum("tool.argument", "24h", "user")`';
  return { function: name, path, window, scope, tool, argument, window_ms: windowMs };
}

function isScope(scope: string): scope is TotalScope {
  return (TOTAL_SCOPES as readonly string[]).includes(scope);
}

/** Returns one value or a list of values as a list. */
export function toList<T>(value: T | readonly T[] | undefined): readonly T[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value as T];
}

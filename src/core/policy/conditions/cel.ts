import { Environment } from '@marcbachmann/cel-js';
import { covers, matchesName } from '../../tags.ts';
import type { Tag } from '../../types/index.ts';
import type { ConditionEvaluator, ConditionFacts } from './facts.ts';

/** The maximum length of one condition in UTF-16 units. */
export const CONDITION_LENGTH_MAX = 2_000;
const LIMITS = {
  maxAstNodes: 300,
  maxDepth: 40,
  maxListElements: 200,
  maxMapEntries: 0,
  maxCallArguments: 3,
};
/** The maximum number of cached parsed conditions, for all policies of the process. */
const CACHED_CONDITIONS_MAX = 20_000;

type Value = string | bigint | Date | readonly string[];
type Name = Exclude<keyof ConditionFacts, 'now_ms'> | 'now';

const NAMES: Readonly<Record<Name, string>> = {
  boundary: 'string',
  phase: 'string',
  tool: 'string',
  agent_id: 'string',
  source_agent_id: 'string',
  destination_agent_id: 'string',
  tenant_id: 'string',
  session_id: 'string',
  tag: 'string',
  severity: 'string',
  data_tags: 'list<string>',
  declared_tags: 'list<string>',
  session_tags: 'list<string>',
  findings: 'int',
  now: 'google.protobuf.Timestamp',
};

/**
 * The functions that conditions may call. All run in linear time. CEL's own `matches` is excluded because it
 * backtracks in this library, and macros that loop over lists are excluded because they could be nested.
 */
const CALLS = [
  'has_tag',
  'matches_glob',
  'size',
  'startsWith',
  'endsWith',
  'contains',
  'lowerAscii',
  'timestamp',
  'duration',
  'getFullYear',
  'getMonth',
  'getDate',
  'getDayOfMonth',
  'getDayOfWeek',
  'getDayOfYear',
  'getHours',
  'getMinutes',
  'getSeconds',
];

/**
 * The operators that conditions may use. None of them builds values that grow or accesses members of other values.
 */
const OPERATORS = new Set([
  ...['value', 'id', 'list', 'call', 'rcall', '?:', '||', '&&', '!_', '-_'],
  ...['==', '!=', '<', '<=', '>', '>=', 'in', '+', '-', '*', '/', '%'],
]);

const environment = getEnvironment();

function getEnvironment(): Environment {
  const made = new Environment({ limits: LIMITS });
  for (const [name, type] of Object.entries(NAMES)) made.registerVariable(name, type);
  made.registerFunction('has_tag(list<string>, string): bool', hasTag);
  made.registerFunction('matches_glob(string, string): bool', (name: string, pattern: string) =>
    matchesName(pattern, name),
  );
  return made;
}

function hasTag(tags: readonly Tag[], ancestor: string): boolean {
  const wanted = ancestor.toLowerCase();
  return tags.some((tag) => covers(wanted, tag));
}

/** Returns the reason a condition cannot be evaluated, as the rest of a sentence; `null` if it can be. */
export function findConditionProblem(when: string): string | null {
  if (when.length > CONDITION_LENGTH_MAX) return `is longer than ${CONDITION_LENGTH_MAX} characters`;
  try {
    const parsed = environment.parse(when);
    const foreign = findUnsupportedPart(parsed.ast);
    if (foreign !== null) return foreign;
    const { valid, type, error } = parsed.check();
    if (!valid) return `is no condition: ${getErrorLine(error)}`;
    return type === 'bool' ? null : `must evaluate to true or false, but has type \`${type}\``;
  } catch (error) {
    return `is no condition: ${getErrorLine(error)}`;
  }
}

/** Returns the first line of the library's message. The other lines draw the position in the condition. */
function getErrorLine(error: unknown): string {
  const [first = ''] = String((error as Error | undefined)?.message ?? '').split('\n');
  return first.slice(0, 300).replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase());
}

/** A node of the library's syntax tree, with the members that are used here. */
interface Node {
  readonly op: string;
  readonly args: unknown;
}

function findUnsupportedPart(root: unknown): string | null {
  const open: unknown[] = [root];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (Array.isArray(at)) open.push(...at);
    if (!isNode(at)) continue;
    if (!OPERATORS.has(at.op)) return `uses \`${at.op}\`, which conditions here have not`;
    if (at.op === 'value') continue;
    const [called] = at.op.endsWith('call') ? (at.args as [string]) : [];
    if (called !== undefined && !CALLS.includes(called))
      return `calls \`${called}\`, which conditions here have not; there are ${CALLS.join(', ')}`;
    if (isNode(at.args)) open.push(at.args);
    else if (Array.isArray(at.args)) open.push(...at.args);
  }
  return null;
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'op' in value && 'args' in value;
}

const parsed = new Map<string, (facts: Record<Name, Value>) => unknown>();

function getEvaluator(when: string) {
  let evaluate = parsed.get(when);
  if (evaluate === undefined) {
    const wrong = findConditionProblem(when);
    if (wrong !== null) throw new Error(`A condition ${wrong}.`);
    evaluate = environment.parse(when);
    if (parsed.size >= CACHED_CONDITIONS_MAX) parsed.clear();
    parsed.set(when, evaluate);
  }
  return evaluate;
}

/** Evaluates CEL conditions for which `findConditionProblem` returned `null`; throws for any other. */
export const celEvaluator: ConditionEvaluator = {
  evaluate: (when, { now_ms, findings, ...facts }) => {
    const result = getEvaluator(when)({ ...facts, findings: BigInt(findings), now: new Date(now_ms) });
    if (typeof result !== 'boolean') throw new Error('The condition must evaluate to true or false.');
    return result;
  },
};

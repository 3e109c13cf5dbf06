/**
 * Reads a condition's syntax tree: which arguments and totals it reads, and whether it is evaluated in bounded time
 * whatever the arguments are. Each argument is then a variable in the text that is evaluated, so that the evaluator
 * sees values that are found, checked and converted before.
 */
import type { WrittenTotal } from '../../types/index.ts';
import type { ArgumentPath } from './arguments.ts';

/** A variable in the evaluated text. */
export type ConditionSlot =
  | {
      readonly kind: 'value';
      readonly path: ArgumentPath;
      readonly loop_nodes: number;
      readonly is_uniform: boolean;
    }
  | { readonly kind: 'has'; readonly path: ArgumentPath }
  | { readonly kind: 'origin'; readonly path: ArgumentPath }
  | { readonly kind: 'total'; readonly total: WrittenTotal };

/** A condition with its variables. */
export interface ConditionSyntax {
  /** The text in which `__arg0`, `__arg1` and so on replace the arguments. */
  readonly text: string;
  readonly slots: readonly ConditionSlot[];
  /** True if it depends on the tag for which its rule is evaluated. */
  readonly names_tag: boolean;
}

/** The name for all arguments in a condition. */
export const ARGUMENTS_NAME = 'args';
export const SLOT_PREFIX = '__arg';
/** The distinct arguments and totals in one condition. */
export const SLOTS_MAX = 40;
/** The name by which `lowerAscii` is evaluated, because the library's own changes more than ASCII letters. */
export const ASCII_LOWER = 'ascii_lower';

/** A reason why a condition cannot be used: the rest of a sentence. */
export class ConditionProblem extends Error {}

/** A node in the library's syntax tree, with the members that are used here. */
interface Node {
  readonly op: string;
  readonly args: unknown;
  readonly start: number;
  readonly end: number;
}

/** The operators that conditions may use. They build no values that grow. */
const OPERATORS = new Set([
  ...['value', 'id', 'list', 'call', 'rcall', '?:', '||', '&&', '!_', '-_', '.', '[]'],
  ...['==', '!=', '<', '<=', '>', '>=', 'in', '+', '-', '*', '/', '%'],
]);
const ARITHMETIC = new Set(['-_', '+', '-', '*', '/', '%']);

/** The parts of a call that may be arguments: its receiver, and its parameters by position. */
interface CallTerms {
  readonly receiver?: true;
  readonly parameters?: readonly number[];
}

/** A part that may not be an argument makes the call slower than linear: a pattern, a duration, a time zone. */
const CALLS: Readonly<Record<string, CallTerms>> = {
  has_tag: {},
  matches_glob: { parameters: [0] },
  size: { receiver: true, parameters: [0] },
  startsWith: { receiver: true, parameters: [0] },
  endsWith: { receiver: true, parameters: [0] },
  contains: { receiver: true },
  lowerAscii: { receiver: true },
  timestamp: { parameters: [0] },
  duration: {},
  ...Object.fromEntries(
    ['FullYear', 'Month', 'Date', 'DayOfMonth', 'DayOfWeek', 'DayOfYear', 'Hours', 'Minutes', 'Seconds'].map(
      (part) => [`get${part}`, { receiver: true }],
    ),
  ),
};
const LOOPS = ['exists', 'all'];
const TOTALS = ['sum', 'count'];
/** The function that returns the labels of an argument. */
export const ORIGIN = 'origin';

/** The functions in conditions. All run in linear time. */
export const FUNCTIONS: readonly string[] = [...Object.keys(CALLS), 'has', ORIGIN, ...LOOPS, ...TOTALS];

/** The crossing's lists. A loop over an argument would search them once for each item. */
const LIST_NAMES = new Set(['data_tags', 'declared_tags', 'session_tags', 'groups', 'scopes', 'chain']);

interface Reading {
  readonly when: string;
  readonly slots: Map<string, ConditionSlot>;
  readonly splices: { readonly start: number; readonly end: number; readonly text: string }[];
  loop_name: string | null;
  loops: number;
  names_tag: boolean;
}

/** Reads a condition's tree. Throws `ConditionProblem` if it cannot be evaluated in bounded time. */
export function readConditionSyntax(when: string, root: unknown): ConditionSyntax {
  const reading: Reading = {
    when,
    slots: new Map(),
    splices: [],
    loop_name: null,
    loops: 0,
    names_tag: false,
  };
  visit(root as Node, reading);
  if (reading.names_tag && reading.loops > 0)
    throw new ConditionProblem('uses `tag` or `severity` next to a loop; write two rules');
  let text = '';
  let from = 0;
  for (const splice of reading.splices.toSorted((one, other) => one.start - other.start)) {
    text += when.slice(from, splice.start) + splice.text;
    from = splice.end;
  }
  return { text: text + when.slice(from), slots: [...reading.slots.values()], names_tag: reading.names_tag };
}

/** Visits a node. Returns whether its value depends on arguments or totals. */
function visit(node: Node, reading: Reading): boolean {
  const { op } = node;
  if (!OPERATORS.has(op)) throw new ConditionProblem(`uses \`${op}\`, which conditions here have not`);
  if (op === 'value') return false;
  if (op === 'id' || op === '.' || op === '[]') return visitChain(node, reading, false);
  if (op === 'call') return visitCall(node, reading);
  if (op === 'rcall') return visitMethod(node, reading);
  const parts = listNodes(node.args);
  const holder = op === 'in' ? (parts[1] as Node) : null;
  const isMembership = holder !== null && isChain(holder);
  const read = parts.map((part) =>
    isMembership && part === holder ? visitChain(part, reading, true) : visit(part, reading),
  );
  if (holder !== null && !isMembership && read[1]) throw new ConditionProblem(NO_LIST);
  const reads = read.includes(true);
  if (reads && op === 'list')
    throw new ConditionProblem('has an argument inside a list; compare the argument itself');
  if (reads && ARITHMETIC.has(op))
    throw new ConditionProblem(
      `computes with an argument or a total (\`${op.replace('_', '')}\`), which is not exact; compare it as it is`,
    );
  return reads;
}

const NO_LIST = 'needs an argument, or a list of fixed values, after `in`';

function listNodes(args: unknown): readonly Node[] {
  return (Array.isArray(args) ? args : [args]) as readonly Node[];
}

function isChain(node: Node): boolean {
  let at = node;
  while (at.op === '.' || at.op === '[]') [at] = at.args as [Node];
  return at.op === 'id' && (node.op !== 'id' || at.args === ARGUMENTS_NAME);
}

/** Visits a name with the members that follow it. */
function visitChain(node: Node, reading: Reading, isUniform: boolean): boolean {
  const { root, path } = readChain(node);
  if (root === reading.loop_name) {
    if (isUniform) throw new ConditionProblem(NO_LIST);
    return true;
  }
  if (root === ARGUMENTS_NAME) {
    addArgument(node, path, reading, { loop_nodes: 0, is_uniform: isUniform });
    return true;
  }
  if (path.length > 0)
    throw new ConditionProblem(`uses \`${node.op}\` on \`${root}\`, and only \`args\` has members`);
  if (root === 'tag' || root === 'severity') reading.names_tag = true;
  if (reading.loop_name !== null && LIST_NAMES.has(root))
    throw new ConditionProblem(`names \`${root}\` inside a loop, which would search it for each item`);
  return false;
}

function readChain(node: Node): { readonly root: string; readonly path: ArgumentPath } {
  const path: (string | number)[] = [];
  let at = node;
  while (at.op === '.' || at.op === '[]') {
    const [left, step] = at.args as [Node, unknown];
    path.unshift(at.op === '.' ? (step as string) : readIndex(step as Node));
    at = left;
  }
  if (at.op !== 'id') throw new ConditionProblem('uses a member of a value that is no argument');
  return { root: at.args as string, path };
}

const INDEX_MAX = 1_000_000n;

function readIndex({ op, args }: Node): string | number {
  if (op === 'value' && typeof args === 'string') return args;
  if (op === 'value' && typeof args === 'bigint' && args >= 0n && args <= INDEX_MAX) return Number(args);
  throw new ConditionProblem('has an index that is no name in quotes and no whole number from 0 on');
}

const PLAIN_CHAIN =
  /^args(?:\s*\.\s*[A-Za-z_]\w*|\s*\[\s*(?:\d+|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')\s*\])*$/;

function addArgument(
  node: Node,
  path: ArgumentPath,
  reading: Reading,
  options: { readonly loop_nodes: number; readonly is_uniform: boolean },
): void {
  if (!PLAIN_CHAIN.test(reading.when.slice(node.start, node.end)))
    throw new ConditionProblem(
      'has an argument in parentheses or with a comment; write it plainly, as `args.amount`',
    );
  addSlot(node, { kind: 'value', path, ...options }, reading);
}

function addSlot({ start, end }: Node, slot: ConditionSlot, reading: Reading): void {
  const key = JSON.stringify(slot);
  const { slots } = reading;
  if (reading.loop_name !== null)
    throw new ConditionProblem('reads an argument inside a loop over another one, which takes too long');
  let at = [...slots.keys()].indexOf(key);
  if (at < 0) {
    at = slots.size;
    if (at >= SLOTS_MAX) throw new ConditionProblem(`reads more than ${SLOTS_MAX} arguments`);
    slots.set(key, slot);
  }
  reading.splices.push({ start, end, text: `${SLOT_PREFIX}${at}` });
}

function visitCall(node: Node, reading: Reading): boolean {
  const [name, parameters] = node.args as [string, readonly Node[]];
  if (name === 'has') return visitHas(node, parameters, reading);
  if (name === ORIGIN) return visitOrigin(node, parameters, reading);
  if (TOTALS.includes(name)) {
    addSlot(node, { kind: 'total', total: readTotal(name as WrittenTotal['function'], parameters) }, reading);
    return true;
  }
  const terms = getTerms(name);
  return visitParameters(name, parameters, terms, reading);
}

function getTerms(name: string): CallTerms {
  const terms = Object.hasOwn(CALLS, name) ? CALLS[name] : undefined;
  if (terms === undefined)
    throw new ConditionProblem(
      `calls \`${name}\`, which conditions here have not; there are ${FUNCTIONS.join(', ')}`,
    );
  return terms;
}

function visitParameters(
  name: string,
  nodes: readonly Node[],
  { parameters = [] }: CallTerms,
  reading: Reading,
): boolean {
  const reads = nodes.map((each) => visit(each, reading));
  if (reads.some((isRead, at) => isRead && !parameters.includes(at)))
    throw new ConditionProblem(`calls \`${name}\` with an argument where it needs a fixed text`);
  return reads.includes(true);
}

function visitHas(node: Node, parameters: readonly Node[], reading: Reading): boolean {
  const { root, path } = readChain(parameters[0] as Node);
  if (root === reading.loop_name) return true;
  if (root !== ARGUMENTS_NAME || path.length === 0)
    throw new ConditionProblem('calls `has` on a name that is no argument');
  addSlot(node, { kind: 'has', path }, reading);
  return true;
}

/** Visits `origin(args.x)`. Its labels are few and short, so that every function takes them: it returns false. */
function visitOrigin(node: Node, parameters: readonly Node[], reading: Reading): boolean {
  const { root, path } = readChain(parameters[0] as Node);
  if (root !== ARGUMENTS_NAME) throw new ConditionProblem('calls `origin` on a name that is no argument');
  addSlot(node, { kind: 'origin', path }, reading);
  return false;
}

function readTotal(name: WrittenTotal['function'], parameters: readonly Node[]): WrittenTotal {
  const [path, window, scope] = parameters.map(({ op, args }) => {
    if (op !== 'value' || typeof args !== 'string')
      throw new ConditionProblem(`calls \`${name}\` with something other than texts in quotes`);
    return args;
  }) as [string, string, string];
  return { function: name, path, window, scope };
}

function visitMethod(node: Node, reading: Reading): boolean {
  const [name, receiver, parameters] = node.args as [string, Node, readonly Node[]];
  if (LOOPS.includes(name)) return visitLoop(name, receiver, parameters, reading);
  const terms = getTerms(name);
  const reads = visit(receiver, reading);
  if (reads && terms.receiver !== true)
    throw new ConditionProblem(`calls \`${name}\` on an argument, which it does not take`);
  if (name === 'lowerAscii') renameMethod(node, receiver, name, reading);
  return visitParameters(name, parameters, terms, reading) || reads;
}

function renameMethod({ end }: Node, receiver: Node, name: string, { when, splices }: Reading): void {
  const start = when.indexOf(name, receiver.end);
  if (start >= 0 && start < end) splices.push({ start, end: start + name.length, text: ASCII_LOWER });
}

function visitLoop(
  name: string,
  receiver: Node,
  [variable, predicate]: readonly Node[],
  reading: Reading,
): boolean {
  if (reading.loop_name !== null) throw new ConditionProblem(`calls \`${name}\` inside another loop`);
  const { root, path } = readChain(receiver);
  if (root !== ARGUMENTS_NAME)
    throw new ConditionProblem(`calls \`${name}\` on \`${root}\`, and loops are over arguments only`);
  const loopName = variable?.op === 'id' ? (variable.args as string) : '';
  if (loopName === ARGUMENTS_NAME) throw new ConditionProblem(`calls the items of a loop \`${loopName}\``);
  addArgument(receiver, path, reading, {
    loop_nodes: countNodes(predicate as Node),
    is_uniform: false,
  });
  reading.loop_name = loopName;
  reading.loops += 1;
  visit(predicate as Node, reading);
  reading.loop_name = null;
  return true;
}

function countNodes(root: Node): number {
  let count = 0;
  const open: unknown[] = [root];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (Array.isArray(at)) open.push(...at);
    else if (typeof at === 'object' && at !== null && 'op' in at) {
      count += 1;
      if (at.op !== 'value') open.push((at as Node).args);
    }
  }
  return count;
}

import type { ConditionValue } from '../../core/policy/conditions/arguments.ts';
import {
  addDecimals,
  type Decimal,
  formatDecimal,
  isGreater,
  parseDecimal,
} from '../../core/policy/conditions/decimal.ts';
import { matchesAny } from '../../core/tags.ts';
import type { Content } from '../../core/types/index.ts';
import type { TaskHolder, TaskUse } from '../../runtime/enforcement/task.ts';
import { findArgument, listScalars } from './arguments.ts';
import { listEntriesForTool } from './paths.ts';
import type { TaskCause, TaskRow } from './types.ts';
import { type HashValue, readExactNumber } from './values.ts';

/** One call’s amounts, by path. */
export type Amounts = Readonly<Record<string, Decimal>>;

const ZERO: Decimal = { units: 0n, scale: 0 };

/** Returns why a task is not for this caller; `null` if it is. Names are compared exactly. */
export function findWrongHolder(row: TaskRow, use: TaskHolder): 'tenant' | 'agent' | 'user' | null {
  if (use.tenant_id !== row.tenant_id) return 'tenant';
  if (use.agent_id !== row.agent_id) return 'agent';
  return row.user_id === null || use.user_id === row.user_id ? null : 'user';
}

/** Returns the task’s term that a call does not fit; `null` if it fits all. Sums and calls are not checked here. */
export function findUnfitTerm(
  row: TaskRow,
  { tool, content }: TaskUse,
  hash: HashValue,
): 'tools' | 'values' | null {
  if (!matchesAny(readTools(row.tools), tool)) return 'tools';
  const fits = listEntriesForTool(readHashes(row.permitted), tool).every((entry) =>
    isListed(entry, content, hash),
  );
  return fits ? null : 'values';
}

interface ListedArgument {
  readonly path: string;
  readonly argument: string;
  /** The hashes of its permitted values. */
  readonly value: readonly string[];
}

function isListed(
  { path, argument, value: hashes }: ListedArgument,
  content: Content,
  hash: HashValue,
): boolean {
  const found = findArgument(content, argument);
  const scalars = found === undefined ? null : listScalars(found);
  return scalars?.every((each) => hashes.includes(hash(path, each) ?? '')) ?? false;
}

/** Returns whether a task lists sources. */
export function hasSources({ source_calls }: TaskRow): boolean {
  return source_calls !== '{}';
}

/** Returns whether a task lists all arguments of a call, and so its result, as a source. */
export function isSourceCall(row: TaskRow, { tool, content }: TaskUse, hash: HashValue): boolean {
  if (content.kind !== 'json' || typeof content.value !== 'object' || content.value === null) return false;
  const entries = listEntriesForTool(readHashes(row.source_calls), tool);
  const names = Object.keys(content.value);
  return (
    names.length > 0 &&
    names.every((name) => {
      const own = entries.filter(({ argument }) => argument === name);
      return own.length > 0 && own.every((entry) => isListed(entry, content, hash));
    })
  );
}

/** Reads hashes by path from a row. */
export function readHashes(text: string): Readonly<Record<string, readonly string[]>> {
  return JSON.parse(text) as Record<string, readonly string[]>;
}

/** Returns the arguments of a tool whose values a task lists. */
export function listPermittedArguments({ permitted }: TaskRow, tool: string): readonly string[] {
  const entries = listEntriesForTool(readHashes(permitted), tool);
  return entries.map(({ argument }) => argument);
}

/** Returns the amounts that a call adds to its task’s sums; `null` if one is missing, negative, or no number. */
export function readAmounts(row: TaskRow, tool: string, content: Content): Amounts | null {
  const amounts: Record<string, Decimal> = {};
  for (const { path, argument } of listEntriesForTool(readAmountTexts(row.sums), tool)) {
    const amount = readAmount(findArgument(content, argument));
    if (amount === null || amount.units < 0n) return null;
    amounts[path] = amount;
  }
  return amounts;
}

function readAmount(value: ConditionValue | undefined): Decimal | null {
  if (typeof value === 'string') return parseDecimal(value);
  return typeof value === 'number' || typeof value === 'bigint' ? readExactNumber(value) : null;
}

/** Returns sums and calls after one more call, or the limit that it exceeds. */
export function addCall(
  row: TaskRow,
  amounts: Amounts,
): Pick<TaskRow, 'calls' | 'spent'> | Extract<TaskCause, 'calls' | 'sums'> {
  if (row.calls_max !== null && row.calls >= row.calls_max) return 'calls';
  const limits = readAmountTexts(row.sums);
  const spent = { ...readAmountTexts(row.spent) };
  for (const [path, amount] of Object.entries(amounts)) {
    const sum = addDecimals(parseDecimal(spent[path] ?? '0') ?? ZERO, amount);
    const limit = parseDecimal(limits[path] ?? '0') ?? ZERO;
    if (isGreater(sum, limit)) return 'sums';
    spent[path] = formatDecimal(sum);
  }
  return { calls: row.calls + 1, spent: JSON.stringify(spent) };
}

function readAmountTexts(text: string): Readonly<Record<string, string>> {
  return JSON.parse(text) as Record<string, string>;
}

/** Reads a task’s tools from its row. */
export function readTools(text: string): readonly string[] {
  return JSON.parse(text) as readonly string[];
}

/** Messages by cause, for the agent that named the task. */
export const TASK_CAUSES: Readonly<Record<TaskCause, string>> = {
  unknown: 'The task is not known.',
  revoked: 'The task was revoked.',
  expired: 'The task has expired.',
  not_yet_valid: 'The task is from later than now: a clock is wrong.',
  tenant: 'The task is for another tenant.',
  agent: 'The task is for another agent.',
  user: 'The task is for a person whom this call does not prove.',
  tools: 'The task does not allow this tool.',
  values: 'The task does not allow one of these argument values.',
  sums: 'The call would exceed a sum of the task.',
  calls: 'The calls of the task are used up.',
};

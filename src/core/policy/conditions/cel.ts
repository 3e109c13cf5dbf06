import { Environment } from '@marcbachmann/cel-js';
import { listOriginsOnDemand } from '../../flow/lazy.ts';
import { countSteps } from '../../steps.ts';
import { covers, matchesName } from '../../tags.ts';
import type { Content, Json, Label, StoredTotal, Tag, ValuesSeen, WrittenTotal } from '../../types/index.ts';
import { readToolEffect } from '../tool-effect.ts';
import { getArgumentType, type SchemaType } from './argument-types.ts';
import {
  type ArgumentPath,
  type ConditionValue,
  findArgumentNode,
  hasArgument,
  NoResult,
  readArgument,
  readCallValue,
} from './arguments.ts';
import { addDecimals, convertDecimal, parseDecimal } from './decimal.ts';
import type { ConditionCompiler, ConditionEvaluator, ConditionFacts, WrittenReads } from './facts.ts';
import {
  ARGUMENTS_NAME,
  ASCII_LOWER,
  ConditionProblem,
  type ConditionSlot,
  type ConditionSyntax,
  ORIGIN,
  readConditionSyntax,
  SLOT_PREFIX,
  SLOTS_MAX,
} from './syntax.ts';

/** The maximum length of one condition in UTF-16 units. */
export const CONDITION_LENGTH_MAX = 2_000;
/** The steps in one loop: items times nodes in its syntax tree. */
export const LOOP_STEPS_MAX = 20_000;
const LIMITS = {
  maxAstNodes: 300,
  maxDepth: 40,
  maxListElements: 200,
  maxMapEntries: 0,
  maxCallArguments: 3,
};
/** The maximum number of cached parsed conditions, for all policies of the process. */
const CACHED_CONDITIONS_MAX = 20_000;

type Name = Exclude<keyof ConditionFacts, 'now_ms' | 'content' | 'totals' | 'values_seen'> | 'effect' | 'now';

const NAMES: Readonly<Record<Name, string>> = {
  boundary: 'string',
  phase: 'string',
  tool: 'string',
  effect: 'string',
  undeclared: 'bool',
  agent_id: 'string',
  source_agent_id: 'string',
  destination_agent_id: 'string',
  tenant_id: 'string',
  session_id: 'string',
  user: 'string',
  user_email: 'string',
  groups: 'list<string>',
  scopes: 'list<string>',
  claimed_user: 'string',
  chain: 'list<string>',
  agent_tier: 'string',
  tag: 'string',
  severity: 'string',
  data_tags: 'list<string>',
  declared_tags: 'list<string>',
  session_tags: 'list<string>',
  findings: 'int',
  now: 'google.protobuf.Timestamp',
};

const environment = getEnvironment();
/** The names in the text that is evaluated; see `ConditionSyntax`. */
const slotEnvironment = getSlotEnvironment(new Array(SLOTS_MAX).fill('dyn'));

function getEnvironment(): Environment {
  const made = new Environment({ limits: LIMITS });
  for (const [name, type] of Object.entries(NAMES)) made.registerVariable(name, type);
  made.registerVariable(ARGUMENTS_NAME, 'dyn');
  made.registerFunction('has_tag(list<string>, string): bool', hasTag);
  made.registerFunction('matches_glob(string, string): bool', (name: string, pattern: string) =>
    matchesName(pattern, name),
  );
  for (const name of ['sum', 'count'])
    made.registerFunction(`${name}(string, string, string): dyn`, throwNoResult);
  made.registerFunction(`${ORIGIN}(dyn): list<string>`, throwNoResult);
  made.registerFunction(`string.${ASCII_LOWER}(): string`, lowerAscii);
  return made;
}

function getSlotEnvironment(types: readonly string[]): Environment {
  const made = environment.clone();
  for (const [slot, type] of types.entries()) made.registerVariable(`${SLOT_PREFIX}${slot}`, type);
  return made;
}

function hasTag(tags: readonly Tag[], ancestor: string): boolean {
  const wanted = ancestor.toLowerCase();
  return tags.some((tag) => covers(wanted, tag));
}

/** Leaves other letters as they are, so that a Kelvin sign never becomes a `k`. */
function lowerAscii(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

function throwNoResult(): never {
  throw new NoResult();
}

/** Returns the reason a condition cannot be evaluated, as the rest of a sentence; `null` if it can be. */
export function findConditionProblem(when: string): string | null {
  const read = readCondition(when);
  return typeof read === 'string' ? read : null;
}

/** Reads a condition; returns the reason if it cannot be evaluated. */
function readCondition(when: string): ConditionSyntax | string {
  if (when.length > CONDITION_LENGTH_MAX) return `is longer than ${CONDITION_LENGTH_MAX} characters`;
  try {
    const parsed = environment.parse(when);
    const syntax = readConditionSyntax(when, parsed.ast);
    const { valid, type, error } = parsed.check();
    if (!valid) return `is no condition: ${getErrorLine(error)}`;
    if (type !== 'bool' && type !== 'dyn') return `must evaluate to true or false, but has type \`${type}\``;
    return syntax;
  } catch (error) {
    return error instanceof ConditionProblem ? error.message : `is no condition: ${getErrorLine(error)}`;
  }
}

function findReads(when: string): WrittenReads {
  const { slots, names_tag } = requireSyntax(when);
  return {
    arguments: slots.flatMap((slot) => (slot.kind === 'value' || slot.kind === 'origin' ? [slot.path] : [])),
    tested: slots.flatMap((slot) => (slot.kind === 'has' ? [slot.path] : [])),
    totals: slots.flatMap((slot) => (slot.kind === 'total' ? [slot.total] : [])),
    names_tag,
    names_origin: slots.some(({ kind }) => kind === 'origin'),
  };
}

function requireSyntax(when: string): ConditionSyntax {
  const syntax = readCondition(when);
  if (typeof syntax === 'string') throw new Error(`A condition ${syntax}.`);
  return syntax;
}

/** The types that an argument may have in a condition: a number is evaluated as an integer or as a double. */
const SLOT_TYPES: Readonly<Record<SchemaType, readonly [string, string]>> = {
  any: ['dyn', 'dyn'],
  unknown: ['dyn', 'dyn'],
  string: ['string', 'string'],
  number: ['int', 'double'],
  boolean: ['bool', 'bool'],
  null: ['null', 'null'],
  object: ['map', 'map'],
  list: ['list', 'list'],
  'list of strings': ['list<string>', 'list<string>'],
  'list of numbers': ['list<int>', 'list<double>'],
};

function findTypeProblem(when: string, schema: Json): string | null {
  const { text, slots } = requireSyntax(when);
  const types = slots.map((slot) => {
    if (slot.kind === 'has') return ['bool', 'bool'];
    if (slot.kind === 'origin') return SLOT_TYPES['list of strings'];
    return SLOT_TYPES[slot.kind === 'total' ? 'any' : getArgumentType(schema, slot.path)];
  });
  const checks = [0, 1].map((numbers) =>
    getSlotEnvironment(types.map((type) => type[numbers] as string)).check(text),
  );
  const [first] = checks;
  return checks.some(({ valid }) => valid) ? null : getErrorLine(first?.error);
}

export const conditionCompiler: ConditionCompiler = {
  findProblem: findConditionProblem,
  findReads,
  findTypeProblem,
};

/** Returns the first line of the library's message. The other lines draw the position in the condition. */
function getErrorLine(error: unknown): string {
  const [first = ''] = String((error as Error | undefined)?.message ?? '').split('\n');
  return first.slice(0, 300).replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase());
}

/** The variables for one evaluation. They are read when the condition needs them. */
interface Variables {
  readonly facts: ConditionFacts;
}

const NAME_READERS: PropertyDescriptorMap & ThisType<Variables> = {
  ...Object.fromEntries(
    Object.keys(NAMES).map((name) => [
      name,
      {
        get(this: Variables): unknown {
          return this.facts[name as Exclude<Name, 'effect' | 'now'>];
        },
      },
    ]),
  ),
  effect: {
    get(this: Variables): string {
      const { tool } = this.facts;
      return tool === '' ? '' : readToolEffect(tool);
    },
  },
  findings: {
    get(this: Variables): bigint {
      return BigInt(this.facts.findings);
    },
  },
  now: {
    get(this: Variables): Date {
      return new Date(this.facts.now_ms);
    },
  },
};

/** A condition that is ready to be evaluated. */
interface CompiledCondition {
  readonly run: (variables: Variables) => unknown;
  readonly readers: object;
}

const compiled = new Map<string, CompiledCondition>();

function compileCondition(when: string): CompiledCondition {
  let condition = compiled.get(when);
  if (condition === undefined) {
    const syntax = requireSyntax(when);
    condition = {
      run: slotEnvironment.parse(syntax.text),
      readers: Object.create(null, { ...NAME_READERS, ...getSlotReaders(syntax.slots) }),
    };
    if (compiled.size >= CACHED_CONDITIONS_MAX) compiled.clear();
    compiled.set(when, condition);
  }
  return condition;
}

function getSlotReaders(slots: readonly ConditionSlot[]): PropertyDescriptorMap & ThisType<Variables> {
  return Object.fromEntries(
    slots.map((slot, at) => [
      `${SLOT_PREFIX}${at}`,
      {
        get(this: Variables): unknown {
          return readSlot(slot, this.facts);
        },
      },
    ]),
  );
}

function readSlot(slot: ConditionSlot, { content, totals, values_seen }: ConditionFacts): ConditionValue {
  if (content === undefined) throw new NoResult();
  if (slot.kind === 'has') return hasArgument(content, slot.path);
  if (slot.kind === 'total') return readTotal(slot.total, totals ?? [], content);
  if (slot.kind === 'origin') return readOrigin(content, slot.path, values_seen);
  const value = readArgument(content, slot.path);
  if (slot.loop_nodes > 0) countLoopSteps(value, slot.loop_nodes);
  if (slot.is_uniform && Array.isArray(value)) requireUniform(value);
  return value;
}

/** Returns the labels of an argument. There is no result if the session's values are not known. */
function readOrigin(content: Content, path: ArgumentPath, seen: ValuesSeen | undefined): readonly Label[] {
  if (seen === undefined) throw new NoResult();
  return listOriginsOnDemand(findArgumentNode(content, path), seen);
}

function countLoopSteps(value: ConditionValue, nodes: number): void {
  if (value === null || typeof value !== 'object') throw new NoResult();
  const steps = nodes * (value instanceof Map ? value.size : (value as readonly unknown[]).length);
  if (steps > LOOP_STEPS_MAX) throw new NoResult();
  countSteps(steps);
}

/** A list with several types has no result, because `in` would not find a value that a tool finds in a nested list. */
function requireUniform(items: readonly ConditionValue[]): void {
  const kinds = new Set(items.map((item) => (typeof item === 'bigint' ? 'number' : typeof item)));
  if (kinds.size > 1 || kinds.has('object')) throw new NoResult();
}

function readTotal(
  { function: name, path, window, scope }: WrittenTotal,
  totals: readonly StoredTotal[],
  content: Content,
): bigint | number {
  const found = totals.find(
    ({ query }) =>
      query.function === name && query.path === path && query.window === window && query.scope === scope,
  );
  const stored = found?.value == null ? null : parseDecimal(found.value);
  if (found === undefined || stored === null) throw new NoResult();
  const sum = found.includes_call
    ? addDecimals(stored, readCallValue(content, found.query.argument))
    : stored;
  const value = convertDecimal(sum);
  if (value === null) throw new NoResult();
  return value;
}

/** Evaluates CEL conditions for which `findConditionProblem` returned `null`; throws for any other. */
export const celEvaluator: ConditionEvaluator = {
  evaluate: (when, facts) => {
    const { run, readers } = compileCondition(when);
    const variables: Variables = Object.create(readers, { facts: { value: facts } });
    const result = run(variables);
    if (typeof result !== 'boolean') throw new Error('The condition must evaluate to true or false.');
    return result;
  },
};

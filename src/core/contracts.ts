import { type ArgumentCheck, argumentCheck } from './arguments.ts';
import { detect } from './detect.ts';
import { type FieldTree, fieldTree, type Kept, keepFields, stepOf } from './fields.ts';
import type { Objection } from './objection.ts';
import { coveredBy } from './tags.ts';
import type { Content, Crossing, Envelope, Json, Phase, Policy, Tag, ToolContract } from './types.ts';

/** The contract of a crossing's tool, `undeclared` where it has none, `null` where contracts have no say. */
export function contractOf(crossing: Envelope, policy: Policy): ToolContract | 'undeclared' | null {
  if (crossing.boundary !== 'action' || crossing.phase === 'message') return null;
  const found = crossing.tool === null ? null : lookUp(policy, crossing.tool, crossing.tenant_id);
  if (found !== null) return found;
  return policy.undeclared_tools === 'allow' ? null : 'undeclared';
}

/**
 * What a contract has against a tool call or its result (`response`) that carries these tags. `of_content` is what
 * it has against the content itself: see `contentObjections`.
 */
export function contractObjections(
  contract: ToolContract | 'undeclared',
  phase: Phase | null,
  tags: readonly Tag[],
  of_content: readonly Objection[],
): readonly Objection[] {
  if (contract === 'undeclared') {
    return [objection('tool', 'The tool has no contract, and undeclared tools may not be used.', 'enforce')];
  }
  return [
    ...of_content,
    ...(phase === 'response' ? resultObjections(contract, tags) : callObjections(contract, tags)),
  ];
}

function callObjections(
  { accepts, enforcement, side_effects }: ToolContract,
  tags: readonly Tag[],
): Objection[] {
  const objections: Objection[] = [];
  if (accepts.tags !== null && !tags.every((tag) => coveredBy(accepts.tags as readonly Tag[], tag))) {
    objections.push(
      objection('accepts.tags', 'The arguments carry a tag that the tool does not accept.', enforcement),
    );
  }
  if (side_effects.requires_approval) {
    const reason = 'The contract of the tool asks for a person’s approval.';
    objections.push({
      breach: null,
      rule: 'contract.requires_approval',
      action: 'require_approval',
      reason,
      enforcement,
    });
  }
  return objections;
}

function resultObjections({ emits, enforcement }: ToolContract, tags: readonly Tag[]): Objection[] {
  if (emits.tags === null || tags.every((tag) => coveredBy(emits.tags as readonly Tag[], tag))) return [];
  return [objection('emits.tags', 'The result carries a tag that the tool may not give out.', enforcement)];
}

/** What a contract has against the arguments or the result as they are, whatever they carry. */
export function contentObjections(
  contract: ToolContract,
  { phase, content }: Crossing,
  policy: Policy,
): readonly Objection[] {
  const { accepts, emits, enforcement } = contract;
  if (phase === 'response') {
    return emits.fields.length > 0 && !hasFields(content)
      ? [objection('emits.fields', 'The result has no fields, so none can be kept.', enforcement)]
      : [];
  }
  const objections = argumentObjections(contract, content, policy);
  if (accepts.fields.length > 0 && !hasFields(content)) {
    objections.push(
      objection('accepts.fields', 'The arguments have no fields, so none can be kept.', enforcement),
    );
  }
  return objections;
}

/** An objection to the content as a record has it: what was broken, and no place. */
export function recalledObjection(what: string, enforcement: Objection['enforcement']): Objection {
  return objection(what, 'The content did not fit the contract of the tool.', enforcement);
}

/** Whether fields can be taken from it: objects and lists have some, a text has none. */
function hasFields(content: Content): boolean {
  return content.kind === 'json' && typeof content.value === 'object';
}

function argumentObjections(contract: ToolContract, content: Content, policy: Policy): Objection[] {
  if (contract.arguments === null) return [];
  const value: Json = content.kind === 'text' ? content.text : content.value;
  const seen = new Set<string>();
  const objections: Objection[] = [];
  for (const { pointer, keyword } of checkOf(contract)(value)) {
    const path = `$${pointer.map((step) => placeStep(step, policy)).join('')}`;
    if (seen.has(path)) continue;
    seen.add(path);
    const reason = `The arguments do not fit the tool’s schema (\`${keyword}\`).`;
    objections.push(objection('arguments', reason, contract.enforcement, path));
  }
  return objections;
}

function placeStep(step: string, policy: Policy): string {
  return /^\d{1,9}$/.test(step) ? `[${step}]` : stepOf(shownKey(step, policy));
}

const KEY_SHOWN_MAX = 64;

/** A key as a path may name it: a caller wrote it, so what detectors know in it is left out. */
function shownKey(key: string, { detection, limits }: Policy): string {
  const { findings, coverage } = detect({ kind: 'text', text: key }, detection, limits);
  return findings.length > 0 || coverage.status !== 'full' ? '*' : key.slice(0, KEY_SHOWN_MAX);
}

/** What is left of the content after a contract's fields, or `null` where it takes nothing away. */
export function strip(
  contract: ToolContract,
  crossing: Crossing,
  content: Content,
  policy: Policy,
): Kept | null {
  const fields = crossing.phase === 'response' ? contract.emits.fields : contract.accepts.fields;
  if (fields.length === 0 || content.kind === 'text') return null;
  const kept = keepFields(content.value, treeOf(fields), (key) => shownKey(key, policy));
  return kept.stripped.length === 0 ? null : kept;
}

function objection(
  what: string,
  reason: string,
  enforcement: Objection['enforcement'],
  path: string | null = null,
): Objection {
  const breach = { type: 'contract_violation', rule: what, severity: 'high', path, reason } as const;
  return { breach, rule: `contract.${what}`, action: 'block', reason, enforcement };
}

const registers = new WeakMap<Policy, ReadonlyMap<string, ToolContract>>();

/** The tenant's own contract before the global one. */
function lookUp(policy: Policy, tool: string, tenant_id: string): ToolContract | null {
  let register = registers.get(policy);
  if (register === undefined) {
    register = new Map(policy.contracts.map((each) => [keyOf(each.tenant_id, each.tool_name), each]));
    registers.set(policy, register);
  }
  return register.get(keyOf(tenant_id, tool)) ?? register.get(keyOf(null, tool)) ?? null;
}

function keyOf(tenant_id: string | null, name: string): string {
  return JSON.stringify([tenant_id, name]);
}

const checks = new WeakMap<ToolContract, ArgumentCheck>();

function checkOf(contract: ToolContract): ArgumentCheck {
  let check = checks.get(contract);
  if (check === undefined) {
    check = argumentCheck(contract.arguments);
    checks.set(contract, check);
  }
  return check;
}

const trees = new WeakMap<readonly string[], FieldTree>();

function treeOf(fields: readonly string[]): FieldTree {
  let tree = trees.get(fields);
  if (tree === undefined) {
    tree = fieldTree(fields);
    trees.set(fields, tree);
  }
  return tree;
}

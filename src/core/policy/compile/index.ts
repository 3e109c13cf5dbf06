import type { Action, Detection, DocumentProblem, Json, Policy, ScanLimits } from '../../types/index.ts';
import type { DocumentKind } from '../schemas.ts';
import { builtinRules } from './builtin.ts';
import { type DetectionSettings, type NamedReader, readDetection } from './detection.ts';
import { recordsOf } from './documents.ts';
import { deepFreeze, policyHash } from './policy-hash.ts';
import { below, type Place, problem } from './problems.ts';
import { type Placed, readContract, readIdentity, readMemory } from './records.ts';
import { type ConditionReader, type PlacedRule, readRule } from './rules.ts';

/** What of the configuration goes into a policy. */
export interface PolicySettings extends DetectionSettings {
  /** The name of the file in which the settings stand, for problems. */
  readonly file: string;
  readonly default_action: Action;
  readonly builtin_rules: boolean;
  readonly undeclared_tools: 'allow' | 'block';
  /** `null`: `block` as soon as there is an identity, else `allow`. */
  readonly unknown_agents: 'allow' | 'block' | null;
  readonly pii_protection: { readonly enabled: boolean; readonly action: Action };
  readonly limits: ScanLimits;
  readonly redaction: { readonly typed: boolean };
}

/** Rules that stand in the configuration itself, and documents as their files give them. */
export interface CompileInput {
  readonly inline_rules: readonly {
    readonly file: string;
    /** `policies`, or `tenants.acme.policies`. */
    readonly path: string;
    /** `null`: for all tenants, unless a rule names one. */
    readonly tenant_id: string | null;
    readonly rules: readonly unknown[];
  }[];
  readonly documents: readonly { readonly file: string; readonly value: unknown }[];
  readonly settings: PolicySettings;
  /** Needed where the settings name single detectors; see `namesDetectors`. */
  readonly readNamed?: NamedReader;
  /** Needed where a rule has a condition in CEL; see `namesConditions`. */
  readonly readCondition?: ConditionReader;
}

export interface Compiled {
  /** `null` where any problem is an error. */
  readonly policy: Policy | null;
  /** Every one, not only the first; warnings too. */
  readonly problems: readonly DocumentProblem[];
  /** Where each rule, contract, identity and memory schema of the policy was written. */
  readonly places: ReadonlyMap<object, Place>;
}

export { namesDetectors } from './detection.ts';

/** Makes a policy of what people wrote, or says everything that is wrong with it. Inline rules come first. */
export function compile(input: CompileInput): Compiled {
  const { readCondition } = input;
  const read: Read = { problems: [], rules: [], contracts: [], identities: [], memories: [], readCondition };
  for (const list of input.inline_rules) readInline(read, list);
  for (const { file, value } of input.documents) readDocument(read, file, value);
  read.problems.push(...duplicates(read));
  const detection = readDetection(input.settings, input.settings.file, read.problems, input.readNamed);
  if (read.problems.some(({ level }) => level === 'error'))
    return { policy: null, problems: read.problems, places: new Map() };
  return {
    policy: policyOf(read, input.settings, detection),
    problems: read.problems,
    places: placesOf(read),
  };
}

interface Read {
  readonly problems: DocumentProblem[];
  readonly rules: PlacedRule[];
  readonly contracts: Placed<Policy['contracts'][number]>[];
  readonly identities: Placed<Policy['identities'][number]>[];
  readonly memories: Placed<Policy['memory_schemas'][number]>[];
  readonly readCondition: ConditionReader | undefined;
}

/** Whether any rule has a condition in CEL. */
export function namesConditions({
  inline_rules,
  documents,
}: Pick<CompileInput, 'inline_rules' | 'documents'>): boolean {
  const rules = [
    ...inline_rules.map((list) => list.rules),
    ...documents.flatMap(({ value }) => {
      const { policy, policies } = (value ?? {}) as {
        readonly policy?: unknown;
        readonly policies?: unknown;
      };
      return [[policy], Array.isArray(policies) ? policies : []];
    }),
  ].flat();
  return rules.some(
    (rule) => (rule as { condition?: { when?: unknown } | null } | null)?.condition?.when !== undefined,
  );
}

function placesOf({ rules, contracts, identities, memories }: Read): ReadonlyMap<object, Place> {
  const placed = [...contracts, ...identities, ...memories].map(
    ({ record, place }) => [record, place] as const,
  );
  return new Map<object, Place>([
    ...rules.flatMap(({ rule, place }) => (rule === null ? [] : [[rule, place] as const])),
    ...placed,
  ]);
}

function readInline(
  read: Read,
  { file, path, tenant_id, rules }: CompileInput['inline_rules'][number],
): void {
  rules.forEach((written, at) => {
    const place = below({ file, path }, at);
    const value = plain(written, place, read.problems);
    if (value !== undefined) readRecord(read, 'policy', value, place, tenant_id);
  });
}

function readDocument(read: Read, file: string, written: unknown): void {
  const document = plain(written, { file, path: '' }, read.problems);
  if (document === undefined) return;
  for (const { kind, value, place } of recordsOf(file, document, read.problems)) {
    readRecord(read, kind, value, place, null);
  }
}

function readRecord(
  read: Read,
  kind: DocumentKind,
  value: Json,
  place: Place,
  tenant_id: string | null,
): void {
  const { problems } = read;
  if (kind === 'policy') push(read.rules, readRule(value, tenant_id, place, problems, read.readCondition));
  else if (kind === 'tool-contract') push(read.contracts, readContract(value, place, problems));
  else if (kind === 'agent-identity') push(read.identities, readIdentity(value, place, problems));
  else push(read.memories, readMemory(value, place, problems));
}

function push<T>(list: T[], record: T | null): void {
  if (record !== null) list.push(record);
}

/** The value as plain JSON of our own, or `undefined` and a problem. */
function plain(written: unknown, place: Place, problems: DocumentProblem[]): Json | undefined {
  try {
    const text = JSON.stringify(written);
    if (text !== undefined) return JSON.parse(text) as Json;
  } catch {
    // A circle of aliases, or a number that JSON has not: the sentence below says so.
  }
  problems.push(problem(place, 'is no plain data: it is empty, or refers to itself'));
  return undefined;
}

function duplicates(read: Read): DocumentProblem[] {
  return [
    ...doubled('rule', read.rules),
    ...doubled(
      'contract',
      read.contracts.map(({ record, place }) => ({
        name: record.tool_name,
        tenant_id: record.tenant_id,
        place,
      })),
    ),
    ...doubled(
      'identity',
      read.identities.map(({ record, place }) => ({
        name: record.agent_id,
        tenant_id: record.tenant_id,
        place,
      })),
    ),
    ...doubled(
      'memory schema',
      read.memories.map(({ record, place }) => ({ name: record.name, tenant_id: record.tenant_id, place })),
    ),
  ];
}

interface Named {
  readonly name: string;
  readonly tenant_id: string | null;
  readonly place: Place;
}

function doubled(what: string, records: readonly Named[]): DocumentProblem[] {
  const first = new Map<string, Place>();
  return records.flatMap(({ name, tenant_id, place }) => {
    const key = JSON.stringify([tenant_id, name]);
    const before = first.get(key);
    if (before === undefined) {
      first.set(key, place);
      return [];
    }
    return problem(
      place,
      `is a second ${what} named \`${name}\`; the first stands in \`${before.file}\` at \`${before.path}\``,
    );
  });
}

function policyOf(read: Read, settings: PolicySettings, detection: Detection): Policy {
  const identities = read.identities.map(({ record }) => record);
  const unknown_agents = settings.unknown_agents ?? (identities.length > 0 ? 'block' : 'allow');
  const content: Omit<Policy, 'hash'> = {
    default_action: settings.default_action,
    rules: read.rules.flatMap(({ rule }) => rule ?? []).sort((a, b) => a.priority - b.priority),
    taint_rules: read.rules.flatMap(({ mark }) => mark ?? []),
    builtin_rules: settings.builtin_rules ? builtinRules(settings.pii_protection.action) : [],
    contracts: read.contracts.map(({ record }) => record),
    identities,
    memory_schemas: read.memories.map(({ record }) => record),
    undeclared_tools: settings.undeclared_tools,
    unknown_agents,
    detection,
    limits: { ...settings.limits },
    redaction: { ...settings.redaction },
  };
  return deepFreeze({ hash: policyHash(content), ...content });
}

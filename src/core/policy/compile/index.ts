import type { Action, Detection, DocumentProblem, Json, Policy, ScanLimits } from '../../types/index.ts';
import type { ConditionCompiler } from '../conditions/facts.ts';
import type { DocumentKind } from '../schemas.ts';
import { findArgumentTypeProblems } from './argument-type-problems.ts';
import { buildBuiltinRules } from './builtin.ts';
import type { HashText } from './canonical-json.ts';
import { type DetectionSettings, type NamedDetectionParser, parseDetection } from './detection.ts';
import { listDocumentRecords } from './documents.ts';
import { findUnknownLabels } from './flow.ts';
import { deepFreeze, hashPolicy } from './policy-hash.ts';
import { hashTextPortably } from './portable-hash.ts';
import { buildChildLocation, buildDocumentProblem, type DocumentLocation } from './problems.ts';
import {
  type LocatedContract,
  type LocatedRecord,
  parseContract,
  parseIdentity,
  parseMemory,
} from './records.ts';
import { type LocatedRule, parseRule } from './rules.ts';

/** The part of the configuration that goes into a policy. */
export interface PolicySettings extends DetectionSettings {
  /** The name of the configuration file, for problems. */
  readonly file: string;
  readonly default_action: Action;
  readonly builtin_rules: boolean;
  readonly undeclared_tools: 'allow' | 'block';
  /** `null`: `block` if the policy has at least one identity, else `allow`. */
  readonly unknown_agents: 'allow' | 'block' | null;
  readonly pii_protection: { readonly enabled: boolean; readonly action: Action };
  readonly limits: ScanLimits;
  readonly redaction: { readonly typed: boolean };
}

/** The input of `compilePolicy`: rules from the configuration, and policy documents by file. */
export interface CompileInput {
  readonly inline_rules: readonly {
    readonly file: string;
    /** `policies`, or `tenants.acme.policies`. */
    readonly path: string;
    /** `null`: the rules apply to all tenants, unless a rule names one. */
    readonly tenant_id: string | null;
    readonly rules: readonly unknown[];
  }[];
  readonly documents: readonly { readonly file: string; readonly value: unknown }[];
  readonly settings: PolicySettings;
  /** Required if the settings name single detectors; see `usesNamedDetectors`. */
  readonly parseNamed?: NamedDetectionParser;
  /** Required if a rule has a CEL condition; see `usesConditions`. */
  readonly conditions?: ConditionCompiler;
  /** Default: a hash without a platform. */
  readonly hashText?: HashText;
}

export interface CompileResult {
  /** `null` if any problem is an error. */
  readonly policy: Policy | null;
  /** All problems, not only the first, including warnings. */
  readonly problems: readonly DocumentProblem[];
  /** The location of each rule, contract, identity and memory schema of the policy in the source files. */
  readonly locations: ReadonlyMap<object, DocumentLocation>;
}

export { usesNamedDetectors } from './detection.ts';

/**
 * Compiles the configuration and the documents to a policy, or returns all problems. Inline rules come first.
 */
export function compilePolicy(input: CompileInput): CompileResult {
  const read: ParsedRecords = {
    problems: [],
    rules: [],
    located_contracts: [],
    contracts: [],
    identities: [],
    memories: [],
    conditions: input.conditions,
  };
  for (const list of input.inline_rules) parseInlineRules(read, list);
  for (const { file, value } of input.documents) parseDocument(read, file, value);
  read.contracts.push(...listNamedContracts(read.located_contracts, input.settings));
  read.problems.push(
    ...findDuplicates(read),
    ...findUnknownLabels(read.located_contracts),
    ...findArgumentTypeProblems(read),
  );
  const detection = parseDetection(input.settings, input.settings.file, read.problems, input.parseNamed);
  if (read.problems.some(({ level }) => level === 'error'))
    return { policy: null, problems: read.problems, locations: new Map() };
  return {
    policy: buildPolicy(read, input, detection),
    problems: read.problems,
    locations: collectLocations(read),
  };
}

/**
 * Returns a contract for each name of a tool. A fallback is dropped where another contract has the name, and everywhere
 * if undeclared tools are blocked, because it would declare the tool and so allow its calls.
 */
function listNamedContracts(
  located: readonly LocatedContract[],
  { undeclared_tools }: PolicySettings,
): LocatedRecord<Policy['contracts'][number]>[] {
  const getKey = (tenantId: string | null, name: string) => JSON.stringify([tenantId, name]);
  const own = new Set(
    located
      .filter(({ is_fallback }) => !is_fallback)
      .flatMap(({ names, record }) => names.map((name) => getKey(record.tenant_id, name))),
  );
  const isDropped = (name: string, { record, is_fallback }: LocatedContract) =>
    is_fallback && (undeclared_tools === 'block' || own.has(getKey(record.tenant_id, name)));
  return located.flatMap((contract) =>
    contract.names
      .filter((name) => !isDropped(name, contract))
      .map((name) => ({ record: { ...contract.record, tool_name: name }, place: contract.place })),
  );
}

interface ParsedRecords {
  readonly problems: DocumentProblem[];
  readonly rules: LocatedRule[];
  /** Contracts as they are written. */
  readonly located_contracts: LocatedContract[];
  /** One contract for each name of a tool. */
  readonly contracts: LocatedRecord<Policy['contracts'][number]>[];
  readonly identities: LocatedRecord<Policy['identities'][number]>[];
  readonly memories: LocatedRecord<Policy['memory_schemas'][number]>[];
  readonly conditions: ConditionCompiler | undefined;
}

/** Returns whether any rule has a CEL condition. */
export function usesConditions({
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

function collectLocations({
  rules,
  contracts,
  identities,
  memories,
}: ParsedRecords): ReadonlyMap<object, DocumentLocation> {
  const placed = [...contracts, ...identities, ...memories].map(
    ({ record, place }) => [record, place] as const,
  );
  return new Map<object, DocumentLocation>([
    ...rules.flatMap(({ rule, place }) => (rule === null ? [] : [[rule, place] as const])),
    ...placed,
  ]);
}

function parseInlineRules(
  read: ParsedRecords,
  { file, path, tenant_id, rules }: CompileInput['inline_rules'][number],
): void {
  rules.forEach((written, at) => {
    const place = buildChildLocation({ file, path }, at);
    const value = parsePlainJson(written, place, read.problems);
    if (value !== undefined) parseOneRecord(read, 'policy', value, place, tenant_id);
  });
}

function parseDocument(read: ParsedRecords, file: string, written: unknown): void {
  const document = parsePlainJson(written, { file, path: '' }, read.problems);
  if (document === undefined) return;
  for (const { kind, value, place } of listDocumentRecords(file, document, read.problems)) {
    parseOneRecord(read, kind, value, place, null);
  }
}

function parseOneRecord(
  read: ParsedRecords,
  kind: DocumentKind,
  value: Json,
  place: DocumentLocation,
  tenantId: string | null,
): void {
  const { problems } = read;
  if (kind === 'policy') pushRecord(read.rules, parseRule(value, tenantId, place, problems, read.conditions));
  else if (kind === 'tool-contract')
    pushRecord(read.located_contracts, parseContract(value, place, problems));
  else if (kind === 'agent-identity') pushRecord(read.identities, parseIdentity(value, place, problems));
  else pushRecord(read.memories, parseMemory(value, place, problems));
}

function pushRecord<T>(list: T[], record: T | null): void {
  if (record !== null) list.push(record);
}

/** Returns a copy of the value as plain JSON, or `undefined` and a problem. */
function parsePlainJson(
  written: unknown,
  place: DocumentLocation,
  problems: DocumentProblem[],
): Json | undefined {
  try {
    const text = JSON.stringify(written);
    if (text !== undefined) return JSON.parse(text) as Json;
  } catch {
    // Cyclic aliases, and numbers that JSON cannot represent, are reported by the problem below.
  }
  problems.push(buildDocumentProblem(place, 'is no plain data: it is empty, or refers to itself'));
  return undefined;
}

function findDuplicates(read: ParsedRecords): DocumentProblem[] {
  return [
    ...findDuplicateNames('rule', read.rules),
    ...findDuplicateNames(
      'contract',
      read.contracts.map(({ record, place }) => ({
        name: record.tool_name,
        tenant_id: record.tenant_id,
        place,
      })),
    ),
    ...findDuplicateNames(
      'identity',
      read.identities.map(({ record, place }) => ({
        name: record.agent_id,
        tenant_id: record.tenant_id,
        place,
      })),
    ),
    ...findDuplicateNames(
      'memory schema',
      read.memories.map(({ record, place }) => ({ name: record.name, tenant_id: record.tenant_id, place })),
    ),
  ];
}

interface NamedRecord {
  readonly name: string;
  readonly tenant_id: string | null;
  readonly place: DocumentLocation;
}

function findDuplicateNames(what: string, records: readonly NamedRecord[]): DocumentProblem[] {
  const first = new Map<string, DocumentLocation>();
  return records.flatMap(({ name, tenant_id, place }) => {
    const key = JSON.stringify([tenant_id, name]);
    const before = first.get(key);
    if (before === undefined) {
      first.set(key, place);
      return [];
    }
    return buildDocumentProblem(
      place,
      `is a second ${what} named \`${name}\`; the first is in \`${before.file}\` at \`${before.path}\``,
    );
  });
}

function buildPolicy(
  read: ParsedRecords,
  { settings, hashText = hashTextPortably }: CompileInput,
  detection: Detection,
): Policy {
  const identities = read.identities.map(({ record }) => record);
  const unknownAgents = settings.unknown_agents ?? (identities.length > 0 ? 'block' : 'allow');
  const content: Omit<Policy, 'hash'> = {
    default_action: settings.default_action,
    rules: read.rules.flatMap(({ rule }) => rule ?? []).sort((a, b) => a.priority - b.priority),
    taint_rules: read.rules.flatMap(({ mark }) => mark ?? []),
    builtin_rules: settings.builtin_rules ? buildBuiltinRules(settings.pii_protection.action) : [],
    contracts: read.contracts.map(({ record }) => record),
    identities,
    memory_schemas: read.memories.map(({ record }) => record),
    undeclared_tools: settings.undeclared_tools,
    unknown_agents: unknownAgents,
    detection,
    limits: { ...settings.limits },
    redaction: { ...settings.redaction },
  };
  return deepFreeze({ hash: hashPolicy(content, hashText), ...content });
}

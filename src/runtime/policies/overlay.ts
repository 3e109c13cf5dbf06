import type { CompileInput } from '../../core/policy/compile/index.ts';
import { DOCUMENT_KINDS, type DocumentKind } from '../../core/policy/schemas.ts';
import type { WrittenDocument } from './read-documents.ts';

type Mapping = Readonly<Record<string, unknown>>;

/** The field that identifies the records of a kind. */
const NAMES: Readonly<Record<DocumentKind, string>> = {
  policy: 'name',
  'tool-contract': 'tool_name',
  'agent-identity': 'agent_id',
  memory: 'name',
};

/**
 * Overlays the input of a policy with more documents. A record replaces the one of the same kind, name and
 * tenant, a contract that for the same servers too, or is appended after all others if there is none.
 */
export function overlayDocuments(input: CompileInput, documents: readonly WrittenDocument[]): CompileInput {
  const waiting = new Map<string, { readonly kind: Kind; readonly value: unknown; readonly file: string }>();
  for (const { file, value } of documents)
    for (const { kind, record } of listRecords(value))
      waiting.set(getKey(kind.kind, record, null), { kind, value: record, file });
  const settle = (kind: DocumentKind, record: unknown, tenantId: string | null): unknown => {
    const key = getKey(kind, record, tenantId);
    const over = waiting.get(key);
    waiting.delete(key);
    return over === undefined ? record : over.value;
  };
  const inlineRules = input.inline_rules.map((list) => ({
    ...list,
    rules: list.rules.map((rule) => settle('policy', rule, list.tenant_id)),
  }));
  const kept = input.documents.map(({ file, value }) => ({
    file,
    value: mapDocumentRecords(value, settle),
  }));
  const added = [...waiting.values()].map(({ kind, value, file }) => ({
    file,
    value: { [kind.one]: value },
  }));
  return { ...input, inline_rules: inlineRules, documents: [...kept, ...added] };
}

type Kind = (typeof DOCUMENT_KINDS)[number];

function listRecords(value: unknown): { readonly kind: Kind; readonly record: unknown }[] {
  if (!isMapping(value)) return [];
  // A record keeps the mode of its own document wherever it is placed.
  const kept = { enforcement: value.enforcement ?? 'enforce' };
  return DOCUMENT_KINDS.flatMap((kind) =>
    [value[kind.one], value[kind.many]]
      .flat()
      .filter(isMapping)
      .map((record) => ({ kind, record: kind.kind === 'memory' ? record : { ...kept, ...record } })),
  );
}

function mapDocumentRecords(
  value: unknown,
  settle: (kind: DocumentKind, record: unknown, tenantId: null) => unknown,
): unknown {
  if (!isMapping(value)) return value;
  const changed: Record<string, unknown> = { ...value };
  for (const { kind, one, many } of DOCUMENT_KINDS) {
    if (isMapping(value[one])) changed[one] = settle(kind, value[one], null);
    if (Array.isArray(value[many])) changed[many] = value[many].map((each) => settle(kind, each, null));
  }
  return changed;
}

function getKey(kind: DocumentKind, record: unknown, tenantId: string | null): string {
  const fields = isMapping(record) ? record : {};
  const contract = kind === 'tool-contract' ? [fields.servers ?? null, fields.fallback === true] : [];
  return JSON.stringify([
    kind,
    tenantId ?? fields.tenant_id ?? null,
    fields[NAMES[kind]] ?? null,
    ...contract,
  ]);
}

function isMapping(value: unknown): value is Mapping {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

import { parseLabelPath } from '../../flow/label-paths.ts';
import { LABEL_FAMILIES, listTrustedLabels } from '../../flow/labels.ts';
import { covers, isCoveredBy } from '../../tags.ts';
import type {
  ArgumentFlow,
  DocumentProblem,
  FlowAction,
  FlowTerms,
  Label,
  ResultTerms,
  ToolContract,
} from '../../types/index.ts';
import type { ContractDocument } from './document-types.ts';
import {
  buildChildLocation,
  buildDocumentProblem,
  type DocumentLocation,
  formatNames,
  suggestName,
} from './problems.ts';

type FlowDocument = NonNullable<ContractDocument['flow']>;
type ArgumentFlowDocument = NonNullable<FlowDocument['others']>;

/** Names in `any_of` that are no labels. */
const FURTHER = ['any', 'unknown', 'trivial'];

/** Default terms for arguments that a contract does not name. */
const OTHERS: ArgumentFlowDocument = { any_of: ['user', 'trivial'] };

/** Builds the terms on where argument values come from, and what a tool writes; empty if the document has none. */
export function buildFlowTerms({ flow, writes }: ContractDocument): Pick<ToolContract, 'flow' | 'writes'> {
  return {
    ...(flow !== undefined && { flow: buildFlow(flow) }),
    ...(writes !== undefined && { writes: normalizeLabel(writes) }),
  };
}

function buildFlow(written: FlowDocument): FlowTerms {
  const { intent = [], otherwise = 'block', others = OTHERS } = written;
  return {
    arguments: Object.fromEntries(
      Object.entries(written.arguments ?? {}).map(([name, terms]) => [
        name,
        buildArgumentFlow(terms, otherwise),
      ]),
    ),
    others: buildArgumentFlow(others, otherwise),
    intent,
    otherwise,
  };
}

function buildArgumentFlow(written: ArgumentFlowDocument, general: FlowAction): ArgumentFlow {
  const { any_of, none_of, otherwise = general, optional = false, type } = written;
  return {
    any_of: [...new Set(any_of.map(normalizeLabel))],
    ...(none_of !== undefined && { none_of: [...new Set(none_of.map(normalizeLabel))] }),
    otherwise,
    optional,
    ...(type !== undefined && { type }),
  };
}

/** Builds a result's labels; empty if the document has none. */
export function buildLabelTerms({ emits = {} }: ContractDocument): Pick<ResultTerms, 'origin' | 'labels'> {
  const labels = Object.entries(emits.labels ?? {}).map(
    ([path, label]) => [path, typeof label === 'string' ? normalizeLabel(label) : 'own'] as const,
  );
  return {
    ...(emits.origin !== undefined && { origin: normalizeLabel(emits.origin) }),
    ...(labels.length > 0 && { labels: Object.fromEntries(labels) }),
  };
}

/** `trusted.*` is the same as `trusted`. */
function normalizeLabel(written: string): Label {
  return written.toLowerCase().replace(/\.\*$/, '');
}

/** Returns unknown labels, malformed paths, and arguments that the tool's schema does not have. */
export function findFlowProblems(
  written: ContractDocument,
  place: DocumentLocation,
): readonly DocumentProblem[] {
  return [...findEmitsProblems(written, place), ...findSinkProblems(written, place)];
}

function findEmitsProblems({ emits, writes }: ContractDocument, place: DocumentLocation): DocumentProblem[] {
  const problems: DocumentProblem[] = [];
  const add = (predicate: string | null, ...steps: string[]): void => {
    if (predicate !== null)
      problems.push(buildDocumentProblem(buildChildLocation(place, ...steps), predicate));
  };
  if (emits?.origin !== undefined) add(findResultLabelProblem(emits.origin), 'emits', 'origin');
  for (const [path, label] of Object.entries(emits?.labels ?? {})) {
    if (typeof label === 'string') add(findResultLabelProblem(label), 'emits', 'labels', path);
    add(findPathProblem(path, emits?.fields ?? []), 'emits', 'labels', path);
  }
  if (writes !== undefined && !covers('trusted', normalizeLabel(writes)))
    add(
      `must be a trusted label, such as \`trusted.contacts\`${suggestName(getFamily(writes), ['trusted'])}`,
      'writes',
    );
  return problems;
}

/** A tool proves neither what a person said nor, for all its values, that it made them. */
function findResultLabelProblem(written: string): string | null {
  const label = normalizeLabel(written);
  if (isCoveredBy(['trusted', 'untrusted'], label)) return null;
  if (label === 'own') return 'must be `{own: generated}`, because only generated values are the tool’s own';
  const known = ['trusted', 'untrusted'];
  return `must be a label of a result: \`trusted.<name>\` or \`untrusted.<name>\`${suggestName(getFamily(label), known)}`;
}

function getFamily(label: string): string {
  return label.split('.', 1)[0]!;
}

function findPathProblem(path: string, fields: readonly string[]): string | null {
  const steps = parseLabelPath(path);
  if (steps === null)
    return 'is not a path: names joined by dots, `[]` behind a list, `*` for any name, and last `@keys` or `@lines`';
  const first = steps.find((step) => step !== '[]');
  if (first === undefined || first.startsWith('@') || first === '*' || fields.length === 0) return null;
  const kept = [...new Set(fields.map((field) => field.split('.', 1)[0]!))];
  return kept.includes(first)
    ? null
    : `begins with a field that \`emits.fields\` removes${suggestName(first, kept)}`;
}

function findSinkProblems(
  { flow, arguments: schema }: ContractDocument,
  place: DocumentLocation,
): DocumentProblem[] {
  if (flow === undefined) return [];
  const problems: DocumentProblem[] = [];
  const names = listSchemaNames(schema);
  const terms: (readonly [ArgumentFlowDocument, DocumentLocation])[] = Object.entries(
    flow.arguments ?? {},
  ).map(([name, each]) => [each, buildChildLocation(place, 'flow', 'arguments', name)]);
  if (names !== null)
    for (const name of Object.keys(flow.arguments ?? {}).filter((each) => !names.includes(each)))
      problems.push(
        buildDocumentProblem(
          buildChildLocation(place, 'flow', 'arguments', name),
          `is no argument of the tool’s schema${suggestName(name, names)}`,
        ),
      );
  if (flow.others !== undefined) terms.push([flow.others, buildChildLocation(place, 'flow', 'others')]);
  for (const [{ any_of, none_of = [] }, at] of terms)
    for (const [list, labels] of Object.entries({ any_of, none_of }))
      for (const [index, label] of labels.entries()) {
        const predicate = findSinkLabelProblem(label);
        if (predicate !== null)
          problems.push(buildDocumentProblem(buildChildLocation(at, list, index), predicate));
      }
  return problems;
}

function findSinkLabelProblem(written: string): string | null {
  const label = normalizeLabel(written);
  if (FURTHER.includes(label) || isCoveredBy(LABEL_FAMILIES, label)) return null;
  const known = [...LABEL_FAMILIES, ...FURTHER];
  return `is no label; there are ${formatNames(known)}${suggestName(getFamily(label), known)}`;
}

/** Returns the arguments that a schema declares; `null` if it declares none. */
function listSchemaNames(schema: ContractDocument['arguments']): readonly string[] | null {
  const properties =
    typeof schema === 'object' && schema !== null
      ? (schema as Readonly<Record<string, unknown>>).properties
      : null;
  return typeof properties === 'object' && properties !== null ? Object.keys(properties) : null;
}

/** Returns a problem for each trusted label that a sink lists or a tool writes and that no contract gives. */
export function findUnknownLabels(
  contracts: readonly { readonly record: ToolContract; readonly place: DocumentLocation }[],
): readonly DocumentProblem[] {
  const given = [...new Set(contracts.flatMap(({ record }) => listTrustedLabels(record)))];
  return contracts.flatMap(({ record: { flow, writes }, place }) => {
    const isGiven = (label: Label): boolean =>
      given.some((each) => covers(label, each) || covers(each, label));
    const listed: (readonly [Label, DocumentLocation])[] = [];
    if (writes !== undefined) listed.push([writes, buildChildLocation(place, 'writes')]);
    for (const [name, { any_of }] of Object.entries(flow?.arguments ?? {}))
      for (const label of any_of) listed.push([label, buildChildLocation(place, 'flow', 'arguments', name)]);
    return listed.flatMap(([label, at]) =>
      !covers('trusted', label) || label === 'trusted' || isGiven(label)
        ? []
        : buildDocumentProblem(
            at,
            `names \`${label}\`, which no contract gives to a result${suggestName(label, given)}`,
          ),
    );
  });
}

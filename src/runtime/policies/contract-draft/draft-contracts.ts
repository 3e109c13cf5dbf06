import { readToolEffect } from '../../../core/policy/tool-effect.ts';
import { covers } from '../../../core/tags.ts';
import type { JsonObject, Label } from '../../../core/types/index.ts';
import { draftSinks, type SinkDraft } from './argument-sinks.ts';
import { isRemovingVerb } from './intent-words.ts';
import { labelResult, type ResultDraft } from './result-labels.ts';
import {
  buildOwnResolver,
  type ReferenceResolver,
  simplifySchema,
  writeArgumentSchema,
} from './simplify-schema.ts';
import { findSourceKind, type SourceKind } from './source-kinds.ts';
import type { DraftedContract, DraftReason, ToolDescription } from './tool-description.ts';

export interface DraftOptions {
  /** Trusted labels that contracts outside the draft give. */
  readonly given?: readonly Label[];
  /** Resolves references in the schemas; by default within each schema. */
  readonly resolve?: ReferenceResolver;
}

/** A contract allows more calls in a minute than were seen. */
const RATE_MARGIN = 2;
const RATE_MAX = 6_000;

interface ToolReading {
  readonly tool: ToolDescription;
  readonly kind: SourceKind;
  readonly is_writing: boolean;
  readonly schema: JsonObject | null;
  readonly result: ResultDraft;
}

/**
 * Proposes a contract for each tool, by general words and JSON Schema: where its results come from, and where the values of its
 * arguments must come from. The contracts belong together, because a sink lists only labels that one of them gives.
 */
export function draftContracts(
  tools: readonly ToolDescription[],
  { given = [], resolve }: DraftOptions = {},
): readonly DraftedContract[] {
  const readings = tools.map((tool) => readTool(tool, resolve));
  const labels = readings.flatMap(({ result }) => [result.origin ?? '', ...result.labels.values()]);
  const trusted = labels.filter(
    (label): label is Label => typeof label === 'string' && covers('trusted', label),
  );
  const all = [...new Set([...given, ...trusted])].sort();
  return readings.map((reading) => draftContract(reading, all));
}

function readTool(tool: ToolDescription, resolve: ReferenceResolver | undefined): ToolReading {
  const simplifyOwn = (schema: JsonObject | null) =>
    schema === null ? null : simplifySchema(schema, resolve ?? buildOwnResolver(schema));
  const kind = findSourceKind(tool);
  const isWriting = isWritingTool(tool);
  const result = labelResult(tool, kind, simplifyOwn(tool.output_schema), isWriting);
  return { tool, kind, is_writing: isWriting, schema: simplifyOwn(tool.input_schema), result };
}

/** An unknown effect counts as writing. Hints can only add effects. */
function isWritingTool({ name, hints }: ToolDescription): boolean {
  if (hints.writes === true || hints.destroys === true) return true;
  const effect = readToolEffect(name);
  return effect === 'writes' || (effect === 'unknown' && hints.is_safe_method !== true);
}

function draftContract(
  { tool, kind, is_writing, schema, result }: ToolReading,
  given: readonly Label[],
): DraftedContract {
  const sinks = draftSinks({ tool, kind, schema, is_writing, given });
  const store: Label = `trusted.${kind.name}`;
  const isStore =
    is_writing && !isRemovingVerb(tool.name) && kind.writers === 'people' && given.includes(store);
  const { observed } = tool;
  const emits = buildEmits(result, tool);
  const contract: JsonObject = {
    tool_name: tool.tool_name,
    ...(schema !== null && Object.keys(schema).length > 0 && { arguments: writeArgumentSchema(schema) }),
    ...(observed !== undefined && {
      allowed_agents: [...observed.agents],
      max_calls_per_minute: Math.min(RATE_MAX, observed.calls_per_minute * RATE_MARGIN),
      accepts: { tags: [...observed.argument_tags], fields: [...observed.argument_names] },
    }),
    ...(Object.keys(emits).length > 0 && { emits }),
    ...(isStore && { writes: store }),
    ...(sinks.flow !== null && { flow: sinks.flow }),
    ...buildSideEffects(sinks, tool, is_writing),
  };
  const reasons: DraftReason[] = [
    { place: [], reason: describeEffect(tool, is_writing, sinks) },
    ...result.reasons,
    ...(isStore
      ? [{ place: ['writes'], reason: 'a value of a stranger in it ends this trust for the session' }]
      : []),
    ...sinks.reasons,
  ];
  return { contract, reasons };
}

function buildEmits({ origin, labels }: ResultDraft, { observed }: ToolDescription): JsonObject {
  return {
    ...(observed !== undefined && { tags: [...observed.result_tags] }),
    ...(origin !== null && { origin }),
    ...(labels.size > 0 && { labels: Object.fromEntries(labels) }),
  };
}

function buildSideEffects(sinks: SinkDraft, tool: ToolDescription, isWriting: boolean): JsonObject {
  const { is_irreversible, requires_approval, has_egress } = sinks;
  const egress = has_egress || tool.observed?.has_egress === true;
  if (!isWriting && !egress) return {};
  const reversible = !isWriting || (isKnownWriter(tool) && !is_irreversible);
  return { side_effects: { reversible, requires_approval, ...(egress && { egress }) } };
}

function describeEffect(tool: ToolDescription, isWriting: boolean, sinks: SinkDraft): string {
  if (!isWriting) return 'reads';
  if (sinks.is_irreversible) return 'writes, and reaches others or cannot be undone';
  return isKnownWriter(tool) ? 'writes' : 'counts as writing, because its name has no known verb';
}

function isKnownWriter({ name, hints }: ToolDescription): boolean {
  return hints.writes === true || readToolEffect(name) === 'writes';
}

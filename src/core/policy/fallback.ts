import type { Action, Content, Tag } from '../types/index.ts';

/** What a fallback template may name in braces. The original text is not among it. */
export const FALLBACK_PLACEHOLDERS = [
  'reason',
  'rule',
  'policy_name',
  'action',
  'agent_id',
  'data_tags',
  'detections',
  'redacted',
] as const;
type Placeholder = (typeof FALLBACK_PLACEHOLDERS)[number];

/** What stands in for the placeholders. */
export interface FallbackValues {
  readonly reason: string;
  readonly rule: string;
  readonly action: Action;
  readonly agent_id: string;
  readonly data_tags: readonly Tag[];
  readonly detections: number;
  /** The masked content, or `null` where the original is blocked: then the marker stands for all of it. */
  readonly redacted: Content | null;
}

const BRACES = /\{([a-z_]{1,40})\}/g;

/** The placeholders of a template that do not exist. */
export function listUnknownPlaceholders(template: string): readonly string[] {
  const names = [...template.matchAll(BRACES)].map(([, name]) => name as string);
  return names.filter((name) => !isPlaceholder(name));
}

/** A rule's own text with its placeholders filled in, once: what is filled in is not read again. */
export function renderFallback(template: string, values: FallbackValues): string {
  return template.replace(BRACES, (braces, name: string) =>
    isPlaceholder(name) ? filledIn(name, values) : braces,
  );
}

function isPlaceholder(name: string): name is Placeholder {
  return (FALLBACK_PLACEHOLDERS as readonly string[]).includes(name);
}

function filledIn(name: Placeholder, values: FallbackValues): string {
  if (name === 'data_tags') return values.data_tags.join(', ');
  if (name === 'redacted') return redactedText(values.redacted);
  if (name === 'policy_name') return values.rule;
  return String(values[name]);
}

function redactedText(redacted: Content | null): string {
  if (redacted === null) return '[REDACTED]';
  return redacted.kind === 'text' ? redacted.text : JSON.stringify(redacted.value);
}

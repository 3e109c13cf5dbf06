import type { Action, Content, Tag } from '../types/index.ts';

/** The placeholders that a fallback template may use. The original text is not among them. */
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

/** The values of the placeholders. */
export interface FallbackValues {
  readonly reason: string;
  readonly rule: string;
  readonly action: Action;
  readonly agent_id: string;
  readonly data_tags: readonly Tag[];
  readonly detections: number;
  /** The masked content; `null` if the original is blocked, and then the marker replaces all of it. */
  readonly redacted: Content | null;
}

const BRACES = /\{([a-z_]{1,40})\}/g;

/** Returns the placeholders of a template that do not exist. */
export function listUnknownPlaceholders(template: string): readonly string[] {
  const names = [...template.matchAll(BRACES)].map(([, name]) => name as string);
  return names.filter((name) => !isPlaceholder(name));
}

/** Fills in the placeholders of a rule's own text once. Placeholders in inserted values are not expanded. */
export function renderFallback(template: string, values: FallbackValues): string {
  return template.replace(BRACES, (braces, name: string) =>
    isPlaceholder(name) ? fillPlaceholder(name, values) : braces,
  );
}

function isPlaceholder(name: string): name is Placeholder {
  return (FALLBACK_PLACEHOLDERS as readonly string[]).includes(name);
}

function fillPlaceholder(name: Placeholder, values: FallbackValues): string {
  if (name === 'data_tags') return values.data_tags.join(', ');
  if (name === 'redacted') return formatRedacted(values.redacted);
  if (name === 'policy_name') return values.rule;
  return String(values[name]);
}

function formatRedacted(redacted: Content | null): string {
  if (redacted === null) return '[REDACTED]';
  return redacted.kind === 'text' ? redacted.text : JSON.stringify(redacted.value);
}

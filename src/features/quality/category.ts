import type { ViolationType } from '../../core/types/index.ts';

export const CATEGORIES = ['secrets', 'pii', 'injection', 'commands'] as const;
export type Category = (typeof CATEGORIES)[number];

/** The facts that distinguish the categories of labelled rows. */
export interface CategoryFacts {
  /** The label of rows that must be detected; the label of all others is `benign`. */
  readonly positive: string;
  /** The violation type of the findings that count. */
  readonly finds: ViolationType;
  /** True if spans are labelled. If not, any finding in a row counts as a detection. */
  readonly has_spans: boolean;
}

export const CATEGORY_FACTS: Readonly<Record<Category, CategoryFacts>> = {
  secrets: { positive: 'secret', finds: 'secret_detected', has_spans: true },
  pii: { positive: 'pii', finds: 'pii_detected', has_spans: true },
  injection: { positive: 'attack', finds: 'injection_detected', has_spans: false },
  commands: { positive: 'attack', finds: 'dangerous_command', has_spans: false },
};

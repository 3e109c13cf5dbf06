import type { ViolationType } from '../../core/types/index.ts';

export const CATEGORIES = ['secrets', 'pii', 'injection', 'commands'] as const;
export type Category = (typeof CATEGORIES)[number];

/** What tells the categories of labelled rows apart. */
export interface CategoryFacts {
  /** The label of a row in which something has to be found; the others are `benign`. */
  readonly positive: string;
  /** The findings that count. */
  readonly finds: ViolationType;
  /** Whether places are labelled; where not, a row is found when there is any finding in it. */
  readonly has_spans: boolean;
}

export const CATEGORY_FACTS: Readonly<Record<Category, CategoryFacts>> = {
  secrets: { positive: 'secret', finds: 'secret_detected', has_spans: true },
  pii: { positive: 'pii', finds: 'pii_detected', has_spans: true },
  injection: { positive: 'attack', finds: 'injection_detected', has_spans: false },
  commands: { positive: 'attack', finds: 'dangerous_command', has_spans: false },
};

/**
 * Measures rows that were collected after the corpora (`fresh/` in their folder): all rows of a category together, and
 * each transformation of `obfuscations` on its own.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { Policy } from '../../src/core/types/index.ts';
import {
  CATEGORIES,
  type Category,
  type CorpusRow,
  type FigureGroup,
  measureRows,
} from '../../src/features/quality/index.ts';

/** A way to disguise a value, and how many of the values that it disguises are found. */
export interface Transformation {
  readonly name: string;
  readonly positives: number;
  readonly found: number;
}

export interface FreshFigures {
  /** The rows of each category without label noise, and without disguised values. */
  readonly categories: ReadonlyMap<Category, FigureGroup>;
  /** Each transformation over all categories, in alphabetical order. */
  readonly transformations: readonly Transformation[];
}

type FreshRow = CorpusRow & { readonly category?: Category };

/** Files whose rows do not name their category. */
const FILE_CATEGORIES: Readonly<Record<string, Category>> = {
  'secrets-permissive': 'secrets',
  'pii-faker40': 'pii',
  'injection-permissive': 'injection',
  'commands-permissive': 'commands',
};
const ENDING = '.dev.jsonl.gz';
const OBFUSCATIONS = 'obfuscations';

/** Measures the fresh rows in a folder of corpora; `null` if it has none. */
export async function measureFresh(folder: string, policy: Policy): Promise<FreshFigures | null> {
  const fresh = join(folder, 'fresh');
  if (!existsSync(fresh)) return null;
  const rows = readdirSync(fresh)
    .filter((file) => file.endsWith(ENDING))
    .flatMap((file) => readRows(fresh, file));
  const [disguised, plain] = [true, false].map((isDisguised) =>
    rows.filter(({ source }) => (source === OBFUSCATIONS) === isDisguised),
  );
  const categories = new Map<Category, FigureGroup>();
  const transformed = new Map<string, { positives: number; found: number }>();
  for (const category of CATEGORIES) {
    const own = (list: readonly FreshRow[] = []) => list.filter((row) => row.category === category);
    const { without_label_noise } = await measure(own(plain), category, policy);
    categories.set(category, without_label_noise);
    // The source of a disguised row becomes its transformation, because reports group by sources.
    const { sources } = await measure(
      own(disguised).map((row) => ({ ...row, source: row.type ?? '' })),
      category,
      policy,
    );
    for (const { name, positives, found } of sources) {
      const sum = transformed.get(name) ?? { positives: 0, found: 0 };
      transformed.set(name, { positives: sum.positives + positives, found: sum.found + found });
    }
  }
  const transformations = [...transformed].map(([name, sum]) => ({ name, ...sum }));
  return { categories, transformations: transformations.sort((a, b) => (a.name < b.name ? -1 : 1)) };
}

function measure(rows: readonly CorpusRow[], category: Category, policy: Policy) {
  return measureRows(rows, { category, policy, severity_min: 'low' });
}

function readRows(folder: string, file: string): readonly FreshRow[] {
  const category = FILE_CATEGORIES[file.slice(0, -ENDING.length)];
  return gunzipSync(readFileSync(join(folder, file)))
    .toString('utf8')
    .split('\n')
    .filter(Boolean)
    .map((text, at) => {
      const row = JSON.parse(text) as Partial<FreshRow> & Pick<CorpusRow, 'id' | 'text' | 'label'>;
      return {
        source: 'fresh',
        ...row,
        line: at + 1,
        category: row.category ?? category!,
        labels: row.labels ?? [],
        type: row.type ?? null,
        tier: null,
        os: null,
      };
    });
}

export { CATEGORIES, type Category } from './category.ts';
export { type CorpusRow, readCorpus } from './corpus.ts';
export type { Mistake, Tally } from './figures.ts';
export { type FigureGroup, measureRows, type QualityReport } from './measure.ts';
export { openPredictions } from './predictions.ts';
export { KIND_FAMILIES, TYPE_PATTERNS } from './type-patterns.ts';

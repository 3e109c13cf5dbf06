export { CATEGORIES, type Category } from './category.ts';
export { type Row, readCorpus } from './corpus.ts';
export type { Mistake, Tally } from './figures.ts';
export { type Group, measureRows, type QualityReport } from './measure.ts';
export { openPredictions } from './predictions.ts';
export { KINDS, TYPE_NAMES } from './type-names.ts';

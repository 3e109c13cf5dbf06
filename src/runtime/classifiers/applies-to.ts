import type { Crossing } from '../../core/types/index.ts';
import type { ClassifierSettings } from './types.ts';

/** Returns whether a classifier gets the content of such a crossing. */
export function appliesTo(
  { boundaries, phases }: Pick<ClassifierSettings, 'boundaries' | 'phases'>,
  { boundary, phase }: Pick<Crossing, 'boundary' | 'phase'>,
): boolean {
  return boundaries.includes(boundary) && (phase === null || phases.includes(phase));
}

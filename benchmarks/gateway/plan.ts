import type { Name } from './targets.ts';

/** What each part of the benchmark gets. */
export interface Plan {
  readonly rounds: number;
  readonly seconds: number;
  readonly targets: readonly Exclude<Name, 'direct'>[];
  readonly scratch: string;
}

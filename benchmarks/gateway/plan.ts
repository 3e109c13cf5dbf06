import type { Name } from './targets.ts';

/** The parameters of each part of the benchmark. */
export interface Plan {
  readonly rounds: number;
  readonly seconds: number;
  readonly targets: readonly Exclude<Name, 'direct'>[];
  readonly scratch: string;
}

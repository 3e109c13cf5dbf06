/** The types that the whole product shares. All are plain data; fields are snake_case, as in YAML, JSON and SQL. */

export * from './crossing.ts';
export * from './enums.ts';
export * from './finding.ts';
export * from './flow.ts';
export * from './policy.ts';
export * from './principal.ts';
export type { DocumentProblem } from './problem.ts';
export * from './verdict.ts';

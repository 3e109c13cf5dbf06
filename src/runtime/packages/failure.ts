import type { DocumentProblem } from '../../core/types/index.ts';

/** The stable codes of what cannot be done with skills. */
export type SkillFailureCode =
  /** There is no such package, skill or file. */
  | 'not_found'
  /** A package is not as it must be. */
  | 'skill_invalid'
  /** A package could not be had. */
  | 'source_unusable'
  /** A file is in the way, or was changed by hand. */
  | 'conflict'
  /** A package brings code, and nobody has agreed to run it. */
  | 'plugins_refused'
  /** The configuration is not valid, or would not be. */
  | 'policy_invalid'
  /** The lock file cannot be believed. */
  | 'lock_invalid'
  /** Another command changes the same folder. */
  | 'busy';

/** An expected no: a code for programs, a sentence that says what to do, and what is wrong where. */
export class SkillFailure extends Error {
  readonly code: SkillFailureCode;
  readonly problems: readonly DocumentProblem[];
  constructor(code: SkillFailureCode, message: string, problems: readonly DocumentProblem[] = []) {
    super(message);
    this.name = 'SkillFailure';
    this.code = code;
    this.problems = problems;
  }
}

import type { DocumentProblem } from '../../core/types/index.ts';

/** The stable codes of failures with skills. */
export type SkillFailureCode =
  /** The package, skill or file does not exist. */
  | 'not_found'
  /** The package is not valid. */
  | 'skill_invalid'
  /** The package could not be fetched. */
  | 'source_unusable'
  /** A file already exists, or was changed by hand. */
  | 'conflict'
  /** A package contains code, and the operator did not consent to run it. */
  | 'plugins_refused'
  /** The configuration is not valid, or would not be after the change. */
  | 'policy_invalid'
  /** The lock file cannot be trusted. */
  | 'lock_invalid'
  /** Another command changes the same folder. */
  | 'busy';

/**
 * An expected refusal: a code for programs, a message that says what to do, and the problems with their
 * positions.
 */
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

import { joinPredicate } from '../../core/policy/compile/problems.ts';
import type { DocumentProblem } from '../../core/types/index.ts';
import { formatPath, type PathStep } from './problem-path.ts';

/** Builds a problem from a place and the predicate of its sentence: "`server.port` must be a whole number." */
export function buildConfigProblem(
  file: string,
  steps: readonly PathStep[],
  predicate: string,
  line?: number,
  level: DocumentProblem['level'] = 'error',
): DocumentProblem {
  const path = formatPath(steps);
  const subject = path === '' ? `\`${file}\`` : `\`${path}\``;
  return {
    file,
    path,
    ...(line === undefined ? {} : { line }),
    message: endSentence(joinPredicate(subject, predicate)),
    level,
  };
}

/** Appends a full stop, unless the text ends with a punctuation mark. */
export function endSentence(words: string): string {
  return /[.?!]$/.test(words) ? words : `${words}.`;
}

/** Formats a problem as one line for a terminal or a log: `service.yaml:12: \`server.port\` must be ...`. */
export function formatProblem(problem: Omit<DocumentProblem, 'level'>): string {
  const place = problem.line === undefined ? problem.file : `${problem.file}:${problem.line}`;
  const namesPath = problem.path === '' || problem.message.includes(problem.path);
  return namesPath ? `${place}: ${problem.message}` : `${place}: ${problem.path}: ${problem.message}`;
}

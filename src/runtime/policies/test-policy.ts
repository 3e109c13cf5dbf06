import { resolve } from 'node:path';
import { readShape } from '../../core/policy/compile/shape-problems.ts';
import { type CaseDifference, type PolicyTestCase, runCase } from '../../core/review/case.ts';
import { caseFileSchema } from '../../core/review/case-schema.ts';
import type { DocumentProblem, Json, Policy } from '../../core/types/index.ts';
import { type DocumentFile, findFiles } from '../config/document-files.ts';
import type { Config } from '../config/index.ts';
import { parsePath } from '../config/problem-path.ts';
import { loadConditions } from './conditions.ts';
import { findFingerprintProblem, openFingerprints } from './fingerprints.ts';
import { findPack, type Packs } from './packs.ts';
import { readDocuments, readDocumentText, type WrittenDocument } from './read-documents.ts';

/** The default patterns of test files, relative to the configuration. */
export const CASE_PATTERNS = ['policies/tests/*.{yaml,yml}', 'policies/*.test.{yaml,yml}'] as const;

/** The result of one case. */
export interface CaseResult {
  readonly file: string;
  readonly line: number;
  readonly name: string;
  /** Empty if the case passes. */
  readonly differences: readonly CaseDifference[];
}

/** The result of all cases. If there are `problems`, a file is not valid and no case was run. */
export interface TestReport {
  readonly policy_hash: string;
  readonly files: readonly string[];
  readonly results: readonly CaseResult[];
  readonly problems: readonly DocumentProblem[];
  readonly warnings: readonly DocumentProblem[];
}

/**
 * Runs the cases of the given files or text, or of all files that match `CASE_PATTERNS` if the list of files is empty.
 */
export async function testPolicy(
  policy: Policy,
  config: Config,
  cases: readonly string[] | { readonly text: string },
  cwd: string,
  layers: Layers | null = null,
): Promise<TestReport> {
  const found =
    'text' in cases
      ? []
      : cases.length > 0
        ? toDocumentFiles(cases, cwd)
        : await findCases(config.origin.base_dir);
  const read = await ('text' in cases ? readDocumentText(cases.text, 'cases') : readDocuments(found));
  const problems = [...read.problems, ...read.documents.flatMap(getProblems)];
  // The key stays on the machine of the service, so a pipeline that tests the policy does not need it.
  const keyless = findFingerprintProblem(config, policy);
  const warnings: readonly DocumentProblem[] = keyless === null ? [] : [{ ...keyless, level: 'warning' }];
  const report = { policy_hash: policy.hash, files: found.map(({ label }) => label), problems, warnings };
  if (problems.length > 0) return { ...report, results: [] };
  const tools = {
    fingerprintOf: keyless === null ? openFingerprints(config, policy) : null,
    conditions: await loadConditions(policy),
  };
  const results = read.documents.flatMap(({ file, value, lineOf }) =>
    (value as { readonly tests: readonly PolicyTestCase[] }).tests.map((written, at) => ({
      file,
      line: lineOf(['tests', at]),
      name: written.name,
      differences: runCase(written, policy, {
        ...tools,
        ...(layers && { isOfOthers: createOtherRuleFilter(file, layers) }),
        now_ms: getTime(written),
      }),
    })),
  );
  return { ...report, results };
}

/** Finds the pack of a file and the file of a rule. */
export interface Layers {
  readonly packs: Packs;
  readonly fileOf: (rule: string) => string | null;
}

/**
 * The cases of a pack also pass next to other packs and custom rules, contracts and identities that are
 * stricter.
 */
function createOtherRuleFilter(file: string, { packs, fileOf }: Layers): (rule: string) => boolean {
  const own = findPack(packs, file);
  return (rule) => {
    if (own === null) return false;
    const other = fileOf(rule);
    if (other !== null) return findPack(packs, other) !== own;
    return /^(?:contract|identity)\./.test(rule);
  };
}

function toDocumentFiles(files: readonly string[], cwd: string): readonly DocumentFile[] {
  return files.map((label) => ({ path: resolve(cwd, label), label }));
}

async function findCases(baseDir: string): Promise<readonly DocumentFile[]> {
  const found = await Promise.all(CASE_PATTERNS.map((pattern) => findFiles(pattern, baseDir, 'cases')));
  return found.flatMap(({ paths }) =>
    paths.map((path) => ({
      path,
      label: path.startsWith(baseDir) ? path.slice(baseDir.length + 1) : path,
    })),
  );
}

function getProblems({ file, value, lineOf }: WrittenDocument): readonly DocumentProblem[] {
  const place = { file, path: '' };
  return readShape(value as Json, caseFileSchema, place).problems.map((problem) => ({
    ...problem,
    line: lineOf(parsePath(problem.path)),
  }));
}

function getTime({ now }: PolicyTestCase): number {
  return now === undefined ? Date.now() : Date.parse(now);
}

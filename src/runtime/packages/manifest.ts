import { readShape } from '../../core/policy/compile/shape-problems.ts';
import type { DocumentProblem, Json } from '../../core/types/index.ts';
import { parsePath } from '../config/problem-path.ts';
import { buildConfigProblem } from '../config/problem-text.ts';
import { readYaml } from '../config/yaml-documents.ts';
import { SkillFailure } from './failure.ts';
import { FILE_KINDS, type FileKind } from './kinds.ts';
import { manifestSchema } from './manifest-schema.ts';

/** The name of the manifest in a package. */
export const MANIFEST = 'skill.yaml';

/** The content of a package's manifest. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly keywords: readonly string[];
  /** `null`: any. */
  readonly service_min: string | null;
  /** Every file of the package, without duplicates, in the order of kinds. */
  readonly files: readonly ManifestFile[];
}

export interface ManifestFile {
  readonly path: string;
  readonly kind: FileKind;
}

type Written = Readonly<Record<string, unknown>> & {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly keywords?: readonly string[];
  readonly service_min?: string;
};

/**
 * Parses the text of a manifest.
 * @param label - the file, as problems name it
 * @throws SkillFailure `skill_invalid`, with every problem
 */
export async function readManifest(text: string, label: string): Promise<Manifest> {
  const yaml = await readYaml(text);
  if (!yaml.ok)
    throw buildInvalidSkillFailure(
      yaml.problems.map((p) => buildConfigProblem(label, p.steps, p.message, p.line)),
    );
  const [document, second] = yaml.documents;
  if (document === undefined || second !== undefined)
    throw buildInvalidSkillFailure([buildConfigProblem(label, [], 'must hold one document')]);
  const value = document.value as Json;
  const { problems } = readShape(value, manifestSchema, { file: label, path: '' });
  if (problems.length > 0)
    throw buildInvalidSkillFailure(
      problems.map((each) => ({ ...each, line: document.lineOf(parsePath(each.path)) })),
    );
  const manifest = getManifest((value as { readonly skill: Written }).skill);
  if (manifest.files.length === 0)
    throw buildInvalidSkillFailure([buildConfigProblem(label, ['skill'], 'lists no file')]);
  return manifest;
}

function getManifest(skill: Written): Manifest {
  const { name, version, description, keywords = [], service_min = null } = skill;
  const files = FILE_KINDS.flatMap((kind) => {
    const paths = (skill[kind.key] ?? []) as readonly string[];
    return [...new Set(paths)].map((path) => ({ path, kind }));
  });
  return { name, version, description, keywords, service_min, files };
}

function buildInvalidSkillFailure(problems: readonly DocumentProblem[]): SkillFailure {
  return new SkillFailure('skill_invalid', 'The package is not a valid skill:', problems);
}

/**
 * Compares two versions: below 0 if the second is newer, above 0 if the first is. A prerelease precedes its
 * release.
 */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [getParts(a), getParts(b)];
  for (const [at, number] of left.numbers.entries()) {
    const difference = number - right.numbers[at]!;
    if (difference !== 0) return difference;
  }
  if (left.pre === right.pre) return 0;
  if (left.pre === '' || right.pre === '') return left.pre === '' ? 1 : -1;
  return left.pre < right.pre ? -1 : 1;
}

function getParts(version: string): { numbers: number[]; pre: string } {
  const dash = version.indexOf('-');
  const core = dash < 0 ? version : version.slice(0, dash);
  return { numbers: core.split('.').map(Number), pre: dash < 0 ? '' : version.slice(dash + 1) };
}

import type { DocumentProblem } from '../../core/types/index.ts';
import { buildConfigProblem } from './problem-text.ts';
import { readText } from './read-text.ts';
import { readYaml, type YamlDocument } from './yaml-documents.ts';

/** The mapping that a file contains, and the lines of its parts. */
export type MappingRead =
  | { readonly ok: true; readonly value: unknown; readonly lineOf: YamlDocument['lineOf'] }
  | { readonly ok: false; readonly problems: readonly DocumentProblem[] };

/** Reads a YAML or JSON file. `label` is its name in problems. An empty file is an empty mapping. */
export async function readMapping(file: string, label: string): Promise<MappingRead> {
  const refuse = (predicate: string): MappingRead => ({
    ok: false,
    problems: [buildConfigProblem(label, [], predicate)],
  });
  const read = await readText(file);
  if (!read.ok) return refuse(read.message);
  const yaml = await readYaml(read.text);
  if (!yaml.ok) {
    return {
      ok: false,
      problems: yaml.problems.map((p) => buildConfigProblem(label, p.steps, p.message, p.line)),
    };
  }
  if (yaml.documents.length > 1) return refuse('must hold one document; it has a `---` too many');
  const [document] = yaml.documents;
  // A file with comments only is empty, so the defaults apply.
  return { ok: true, value: document?.value ?? {}, lineOf: document?.lineOf ?? (() => 1) };
}

import type { DocumentProblem } from '../../core/types/index.ts';
import type { DocumentFile } from '../config/document-files.ts';
import type { PathStep } from '../config/problem-path.ts';
import { buildConfigProblem } from '../config/problem-text.ts';
import { readText } from '../config/read-text.ts';
import { readYaml, type YamlDocument } from '../config/yaml-documents.ts';

/** A document as it was written. The second and later documents of a file have `file` `name#2` and so on. */
export interface WrittenDocument {
  readonly file: string;
  readonly value: unknown;
  readonly lineOf: (steps: readonly PathStep[]) => number;
}

export interface DocumentsRead {
  readonly documents: readonly WrittenDocument[];
  readonly problems: readonly DocumentProblem[];
}

/** The limit of all documents together, in bytes of their text. */
const TOTAL_CHARS_MAX = 33_554_432;

/** Reads the files in their order. A file that cannot be read is a problem; empty documents are skipped. */
export async function readDocuments(files: readonly DocumentFile[]): Promise<DocumentsRead> {
  const documents: WrittenDocument[] = [];
  const problems: DocumentProblem[] = [];
  let total = 0;
  for (const file of files) {
    const read = await readText(file.path);
    if (!read.ok) {
      problems.push(buildConfigProblem(file.label, [], read.message));
      continue;
    }
    total += read.text.length;
    if (total > TOTAL_CHARS_MAX) {
      problems.push(
        buildConfigProblem(
          file.label,
          [],
          `brings all documents together over ${TOTAL_CHARS_MAX} characters`,
        ),
      );
      break;
    }
    const parsed = await readDocumentText(read.text, file.label);
    documents.push(...parsed.documents);
    problems.push(...parsed.problems);
  }
  return { documents, problems };
}

/** Parses a text with one or more YAML documents. `label` names it in messages. */
export async function readDocumentText(text: string, label: string): Promise<DocumentsRead> {
  const yaml = await readYaml(text);
  if (yaml.ok) return { documents: labelDocuments(label, yaml.documents), problems: [] };
  return {
    documents: [],
    problems: yaml.problems.map((p) => buildConfigProblem(label, p.steps, p.message, p.line)),
  };
}

function labelDocuments(label: string, documents: readonly YamlDocument[]): WrittenDocument[] {
  return documents
    .map(({ value, lineOf }, i) => ({ file: i === 0 ? label : `${label}#${i + 1}`, value, lineOf }))
    .filter(({ value }) => value !== null && value !== undefined);
}

import type { CompileInput } from '../../core/policy/compile/index.ts';
import type { DocumentFile } from '../config/document-files.ts';
import type { ManagedPolicy } from '../managed-policy/managed-policy.ts';
import { type DocumentsRead, readDocuments, readDocumentText } from './read-documents.ts';

/** The labels with which problems and rules name the documents of the managed policy. */
const LABELS = { document: 'managed policy, version ', tenant_set: 'policies of tenant ' } as const;

/** Returns the part of the managed policy that a label names; `null` if it names a file. */
export function findManagedOrigin(label: string): keyof typeof LABELS | null {
  if (label.startsWith(LABELS.tenant_set)) return 'tenant_set';
  return label.startsWith(LABELS.document) ? 'document' : null;
}

/** Reads the documents of the files, and after them those of the managed policy. */
export async function readAllDocuments(
  files: readonly DocumentFile[],
  { document }: ManagedPolicy,
): Promise<DocumentsRead> {
  const read = await readDocuments(files);
  if (document === null) return read;
  const own = await readDocumentText(document.text, `${LABELS.document}${document.version}`);
  return {
    documents: [...read.documents, ...own.documents],
    problems: [...read.problems, ...own.problems],
  };
}

/**
 * Adds the tenant sets and the allowlist of a managed policy to the input of a policy. Rules of the configuration come
 * first, so they are evaluated before the saved ones. A rule name that both have is a problem.
 * An allowlist entry of the configuration replaces a saved one with its fingerprint.
 */
export function addManagedPolicy(
  input: CompileInput,
  { tenants, allowlist, allowed_detectors = [] }: Omit<ManagedPolicy, 'document'>,
): CompileInput {
  if (tenants.length + allowlist.length + allowed_detectors.length === 0) return input;
  const sets = tenants.map(({ tenant_id, version, policies }) => ({
    file: `${LABELS.tenant_set}${tenant_id}, version ${version}`,
    path: 'policies',
    tenant_id,
    rules: policies,
  }));
  const { settings } = input;
  const configured = settings.detection.allowlist;
  const added = allowlist.filter(
    ({ fingerprint }) => !configured.some((entry) => entry.fingerprint === fingerprint),
  );
  const detection = { ...settings.detection, allowlist: [...configured, ...added], allowed_detectors };
  return {
    ...input,
    inline_rules: [...input.inline_rules, ...sets],
    settings: { ...settings, detection },
  };
}

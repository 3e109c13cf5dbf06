import { basename, resolve } from 'node:path';
import { compilePolicy } from '../../core/policy/compile/index.ts';
import { DOCUMENT_KINDS } from '../../core/policy/schemas.ts';
import type { DocumentProblem } from '../../core/types/index.ts';
import { type Config, configSchema } from '../config/index.ts';
import { type ConfigRequest, loadConfig } from './load-config.ts';
import { loadPolicy, type PolicyResult } from './load-policy.ts';
import { overlayDocuments } from './overlay.ts';
import { readDocuments } from './read-documents.ts';

/**
 * The policy that would be in force with a file: a whole configuration stands by itself; documents are laid over
 * those of the configuration in use, by kind, name and tenant.
 */
export async function loadCandidate(
  file: string,
  config: Config,
  { env, cwd }: Pick<ConfigRequest, 'env' | 'cwd'>,
): Promise<PolicyResult> {
  const path = resolve(cwd ?? process.cwd(), file);
  const { documents, problems } = await readDocuments([{ path, label: file }]);
  if (problems.length > 0) return { ok: false, problems, warnings: [] };
  if (documents.length === 1 && isConfiguration(documents[0]!.value, file)) {
    const read = await loadConfig({ path: file, env, ...(cwd !== undefined && { cwd }) });
    return read.ok ? loadPolicy(read.config) : { ok: false, problems: read.problems, warnings: [] };
  }
  let own: readonly DocumentProblem[] = [];
  const made = await loadPolicy(config, {
    change: (written) => {
      // Laid over others, their problems would be told at the places of those.
      const settings = { ...written.settings, detection: NO_DETECTION };
      own = compilePolicy({ inline_rules: [], documents, settings }).problems;
      return overlayDocuments(written, documents);
    },
  });
  const wrong = own.filter(({ level }) => level === 'error');
  return wrong.length > 0 ? { ok: false, problems: wrong, warnings: [] } : made;
}

/** What documents say has nothing to do with it. */
const NO_DETECTION = { detectors: {}, patterns: [], allowlist: [], example_values: 'flag' } as const;

/** Rules may stand in both; a key of the configuration that no document has tells them apart, or the name. */
function isConfiguration(value: unknown, file: string): boolean {
  if (/^service\.ya?ml$/.test(basename(file))) return true;
  if (typeof value !== 'object' || value === null) return false;
  const of_documents = DOCUMENT_KINDS.flatMap(({ one, many }) => [one, many] as string[]);
  return Object.keys(value).some(
    (key) => key !== 'version' && key in configSchema.properties && !of_documents.includes(key),
  );
}

import { basename, resolve } from 'node:path';
import { compilePolicy } from '../../core/policy/compile/index.ts';
import { DOCUMENT_KINDS } from '../../core/policy/schemas.ts';
import type { DocumentProblem } from '../../core/types/index.ts';
import type { Config } from '../config/index.ts';
import type { ConfigSchema } from '../config/schema-types.ts';
import type { ConfigRequest, LoadConfig } from './load-config.ts';
import { loadPolicy, type PolicyResult } from './load-policy.ts';
import { overlayDocuments } from './overlay.ts';
import { readDocuments } from './read-documents.ts';

/** The configuration as this program reads it. */
export interface ConfigReader {
  readonly loadConfig: LoadConfig;
  readonly configSchema: ConfigSchema;
}

/**
 * Compiles the policy that would be active with a file. A whole configuration replaces the active one.
 * Documents overlay those of the active configuration, by kind, name and tenant.
 */
export async function loadCandidate(
  file: string,
  config: Config,
  { env, cwd }: Pick<ConfigRequest, 'env' | 'cwd'>,
  { loadConfig, configSchema }: ConfigReader,
): Promise<PolicyResult> {
  const path = resolve(cwd ?? process.cwd(), file);
  const { documents, problems } = await readDocuments([{ path, label: file }]);
  if (problems.length > 0) return { ok: false, problems, warnings: [] };
  if (documents.length === 1 && isConfiguration(documents[0]!.value, file, configSchema)) {
    const read = await loadConfig({ path: file, env, ...(cwd !== undefined && { cwd }) });
    return read.ok ? loadPolicy(read.config) : { ok: false, problems: read.problems, warnings: [] };
  }
  let own: readonly DocumentProblem[] = [];
  const made = await loadPolicy(config, {
    change: (written) => {
      // The documents are compiled alone first, because problems of overlaid documents would report the wrong
      // positions.
      const settings = { ...written.settings, detection: NO_DETECTION };
      own = compilePolicy({ inline_rules: [], documents, settings }).problems;
      return overlayDocuments(written, documents);
    },
  });
  const wrong = own.filter(({ level }) => level === 'error');
  return wrong.length > 0 ? { ok: false, problems: wrong, warnings: [] } : made;
}

/** The problems of documents do not depend on detection settings. */
const NO_DETECTION = { detectors: {}, patterns: [], allowlist: [], example_values: 'flag' } as const;

/**
 * Returns whether a file is a configuration. Both kinds of file can contain rules, so the file name or a key
 * that no document has decides.
 */
function isConfiguration(value: unknown, file: string, { properties = {} }: ConfigSchema): boolean {
  if (/^service\.ya?ml$/.test(basename(file))) return true;
  if (typeof value !== 'object' || value === null) return false;
  const ofDocuments = DOCUMENT_KINDS.flatMap(({ one, many }) => [one, many] as string[]);
  return Object.keys(value).some(
    (key) => key !== 'version' && key in properties && !ofDocuments.includes(key),
  );
}

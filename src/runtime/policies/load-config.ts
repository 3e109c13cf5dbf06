// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration's own `${NAME}` is meant.
import { lstat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { DocumentProblem } from '../../core/types/index.ts';
import { resolveStateDir } from '../../platform/files/state-folder.ts';
import { findProjectConfigFolder } from '../../platform/files/user-folder.ts';
import { findSecretNames, type ReferenceSources } from '../config/interpolate.ts';
import { applyOverrides, type Overrides } from '../config/overrides.ts';
import { parseConfigValue } from '../config/parse-config-value.ts';
import { findPlainAddresses } from '../config/plain-addresses.ts';
import type { PathStep } from '../config/problem-path.ts';
import { buildConfigProblem } from '../config/problem-text.ts';
import { type MappingRead, readMapping } from '../config/read-mapping.ts';
import { checkRequirements } from '../config/requirements.ts';
import type { Config, ConfigOrigin, WrittenConfig } from '../config/schema.ts';
import type { ConfigSchema } from '../config/schema-types.ts';
import { type AnyConfigSection, buildConfigSchema } from '../config/sections.ts';
import type { SecretReading } from '../secrets/references.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export interface ConfigRequest {
  /**
   * The path of the configuration file. `null` uses `SERVICE_CONFIG`, else `service.yaml` in the current
   * folder, else the one that setup wrote for this folder, else the defaults.
   */
  readonly path: string | null;
  readonly env: Environment;
  readonly overrides?: Overrides;
  /** Default: the current folder. */
  readonly cwd?: string;
  /**
   * The handling of secrets. With `read` (default), the values of `${secret:name}` are read from the backend.
   * With `leave`, such references, and unset variables of credentials, stay as they are written, so that a
   * caller that needs no secrets does not wait. With `decide`, only the sections whose credentials no decision uses
   * stay as they are written, for a caller that only decides.
   */
  readonly secrets?: 'read' | 'leave' | 'decide';
}

/** All problems have level `error`, all warnings `warning`. */
export type ConfigResult = (
  | ConfigRead
  | { readonly ok: false; readonly problems: readonly DocumentProblem[] }
) & {
  /** The secrets that were read, for the audit log. */
  readonly secret_readings: readonly SecretReading[];
};

/** A valid configuration. */
export interface ConfigRead {
  readonly ok: true;
  readonly config: Config;
  readonly warnings: readonly DocumentProblem[];
  /** The schema of the whole configuration. */
  readonly schema: ConfigSchema;
  /** The files that were read: the configuration, and those that its sections name. Absolute. */
  readonly files: readonly string[];
}

/** The default name of the configuration file, and the accepted alternative. */
export const CONFIGURATION_NAMES = ['service.yaml', 'service.yml'] as const;

/** Reads and checks the configuration of this program. */
export type LoadConfig = (request: ConfigRequest) => Promise<ConfigResult>;

/**
 * Reads and checks the configuration. Never throws for the content of a file: every problem is in the result,
 * with its file, path and line. Without a file the defaults apply, and no parser is loaded.
 *
 * @param sections - the sections that features have; any other is an unknown key
 */
export async function loadConfigWith(
  request: ConfigRequest,
  sections: readonly AnyConfigSection[],
): Promise<ConfigResult> {
  const cwd = request.cwd ?? process.cwd();
  const requested = request.path ?? (request.env.SERVICE_CONFIG || null);
  const found = requested ?? (await findFile(cwd, request.env));
  const origin: ConfigOrigin =
    found === null
      ? { file: null, label: 'service.yaml', base_dir: cwd }
      : { file: resolve(cwd, found), label: found, base_dir: dirname(resolve(cwd, found)) };
  const written = origin.file === null ? null : await readMapping(origin.file, origin.label);
  if (written !== null && !written.ok) return { ...written, secret_readings: [] };
  const { sources, readings } = await getSources(written?.value, origin, request, sections);
  const settled = parseWrittenConfig({ written, origin, request, sources, sections });
  return { ...(settled.ok ? await addSectionFiles(settled, sections) : settled), secret_readings: readings };
}

type Settled = ConfigRead | { readonly ok: false; readonly problems: readonly DocumentProblem[] };

async function addSectionFiles(read: ConfigRead, sections: readonly AnyConfigSection[]): Promise<Settled> {
  let { config, files } = read;
  for (const { name, readFiles } of sections) {
    const added = await readFiles?.(config[name]);
    if (added === undefined) continue;
    if (!added.ok) return added;
    config = { ...config, [name]: added.settings };
    files = [...files, ...added.files];
  }
  return { ...read, config, files };
}

/**
 * Returns the environment and the secrets that the configuration references. Calls the secret backend only if
 * there are any.
 */
async function getSources(
  written: unknown,
  origin: ConfigOrigin,
  { env, secrets }: ConfigRequest,
  features: readonly AnyConfigSection[],
): Promise<{ sources: ReferenceSources; readings: readonly SecretReading[] }> {
  if (secrets === 'leave') return { sources: { env, secrets: 'left' }, readings: [] };
  const unused = features.filter((each) => each.is_unused_by_decisions).map(({ name }): string => name);
  const leftSections = secrets === 'decide' ? ['proxy', ...unused] : [];
  const names = listSecretNames(written, leftSections);
  if (names.size === 0)
    return { sources: { env, secrets: new Map(), left_sections: leftSections }, readings: [] };
  const { readReferences } = await import('../secrets/references.ts');
  const { reads, readings } = await readReferences([...names], written as object, origin, env);
  return { sources: { env, secrets: reads, left_sections: leftSections }, readings };
}

/** Returns the names of the referenced secrets, except in the sections that are left. */
function listSecretNames(written: unknown, leftSections: readonly string[]): ReadonlySet<string> {
  const names = new Set<string>();
  const isMapping = typeof written === 'object' && written !== null;
  const sections = isMapping ? Object.entries(written) : [];
  const read = sections.filter(([section]) => !leftSections.includes(section));
  addNames(Object.fromEntries(read), names);
  return names;
}

function addNames(written: unknown, names: Set<string>, areHeaders = false): void {
  if (typeof written === 'string') for (const name of findSecretNames(written)) names.add(name);
  if (typeof written !== 'object' || written === null) return;
  for (const [key, value] of Object.entries(written)) {
    // Header names can begin with `x-` too, but they are not extension keys.
    if (areHeaders || !key.startsWith('x-')) addNames(value, names, key === 'headers');
  }
}

async function findFile(cwd: string, env: Environment): Promise<string | null> {
  const kept = findProjectConfigFolder(cwd, env);
  const own = kept === null ? [] : [join(kept, CONFIGURATION_NAMES[0])];
  for (const name of [...CONFIGURATION_NAMES, ...own]) {
    // Any entry with this name was intended, so a folder or a broken link is reported and not skipped.
    const there = await lstat(resolve(cwd, name)).then(
      () => true,
      (error: NodeJS.ErrnoException) => error.code !== 'ENOENT',
    );
    if (there) return name;
  }
  return null;
}

interface WrittenParts {
  /** `null` without a file. */
  readonly written: (MappingRead & { ok: true }) | null;
  readonly origin: ConfigOrigin;
  readonly request: ConfigRequest;
  readonly sources: ReferenceSources;
  readonly sections: readonly AnyConfigSection[];
}

function parseWrittenConfig({ written, origin, request, sources, sections }: WrittenParts): Settled {
  const { label, file } = origin;
  const schema = buildConfigSchema(sections);
  const lineOf = (steps: readonly PathStep[]): number | undefined => written?.lineOf(steps);
  const settled = parseConfigValue(written?.value ?? {}, schema, sources);
  const overridden = applyOverrides(settled.value, request.overrides ?? {});
  const problems = settled.problems.map((p) =>
    buildConfigProblem(label, p.steps, p.message, lineOf(p.steps)),
  );
  if (problems.length + overridden.problems.length > 0) {
    return { ok: false, problems: [...overridden.problems, ...problems] };
  }
  const config = finishConfig(overridden.value as WrittenConfig, origin, sections);
  const unmet = checkRequirements(config, sections).map((p) =>
    buildConfigProblem(label, p.steps, p.message, lineOf(p.steps)),
  );
  if (unmet.length > 0) return { ok: false, problems: unmet };
  return {
    ok: true,
    config,
    warnings: findPlainAddresses(config, sections, lineOf),
    schema,
    files: file === null ? [] : [file],
  };
}

/** Makes file paths absolute, and computes the settings that depend on other keys. */
function finishConfig(
  written: WrittenConfig,
  origin: ConfigOrigin,
  sections: readonly AnyConfigSection[],
): Config {
  const absolute = (name: string): string => resolve(origin.base_dir, name);
  const resolved = sections.flatMap(({ name, resolvePaths }) =>
    resolvePaths === undefined ? [] : [[name, resolvePaths(written[name], absolute)] as const],
  );
  const { jwt } = written.auth;
  const files = jwt === null ? {} : resolveFiles(jwt, absolute);
  return {
    ...written,
    policy: {
      ...written.policy,
      undeclared_tools:
        written.policy.undeclared_tools ?? (written.server.mode === 'gateway' ? 'block' : 'allow'),
    },
    scan: { ...written.scan, file_roots: written.scan.file_roots.map(absolute) },
    auth: { ...written.auth, jwt: jwt === null ? null : { ...jwt, ...files } },
    ...Object.fromEntries(resolved),
    state_dir: resolveStateDir(absolute(written.state_dir)),
    origin,
  };
}

function resolveFiles(
  { jwks_file, public_key_file }: { jwks_file?: string; public_key_file?: string },
  absolute: (name: string) => string,
): { jwks_file?: string; public_key_file?: string } {
  return {
    ...(jwks_file === undefined ? {} : { jwks_file: absolute(jwks_file) }),
    ...(public_key_file === undefined ? {} : { public_key_file: absolute(public_key_file) }),
  };
}

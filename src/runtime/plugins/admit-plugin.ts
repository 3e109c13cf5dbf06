import { AGENT_TRACES } from '../../core/detect/agent-traces.ts';
import { compilePolicy, type PolicySettings, usesConditions } from '../../core/policy/compile/index.ts';
import { findPatternProblems } from '../../core/policy/compile/named-detection.ts';
import { readShape } from '../../core/policy/compile/shape-problems.ts';
import { policyPacks as builtinTemplates, type PolicyPack } from '../../core/policy/templates/index.ts';
import type { DocumentProblem, Json } from '../../core/types/index.ts';
import { SECRET_DRIVER_NAMES } from '../../drivers/secrets/index.ts';
import { findAdapterProblems, findDialectProblems } from '../adapters/find-problems.ts';
import { buildConfigProblem } from '../config/problem-text.ts';
import { pluginSchema, type WrittenPlugin } from './schema.ts';
import type { Plugin } from './types.ts';

/** The names in use by built-in parts, by the configuration, and by plug-ins loaded before. */
export interface TakenNames {
  readonly plugins: Set<string>;
  readonly detectors: Set<string>;
  readonly templates: Set<string>;
  readonly drivers: Set<string>;
  readonly dialects: Set<string>;
  readonly adapters: Set<string>;
}

/**
 * Returns the names of built-in parts and of the configuration's own patterns. The names of plug-ins are added
 * later.
 */
export function collectTakenNames(patterns: readonly { readonly id: string }[]): TakenNames {
  return {
    plugins: new Set(),
    detectors: new Set(patterns.map(({ id }) => id)),
    templates: new Set(builtinTemplates.map(({ name }) => name)),
    drivers: new Set(SECRET_DRIVER_NAMES),
    dialects: new Set(AGENT_TRACES.dialects),
    adapters: new Set(),
  };
}

type Admission =
  | { readonly ok: true; readonly plugin: Plugin }
  | { readonly ok: false; readonly name: string | null; readonly problems: readonly DocumentProblem[] };

/**
 * Checks the exports of a plug-in: shapes, names, patterns with their examples, templates. Admits all of them
 * or none, and then reserves their names.
 * @param from - the plug-in, as problems name it
 */
export async function admitPlugin(
  value: Json,
  from: string,
  settings: PolicySettings,
  taken: TakenNames,
): Promise<Admission> {
  const shape = readShape(value, pluginSchema, { file: from, path: '' });
  if (shape.value === null) return { ok: false, name: readName(value), problems: shape.problems };
  const plugin = getPlugin(shape.value);
  const problems = [
    ...findDuplicateNames(plugin, from, taken),
    ...findPatternProblems(plugin.detectors, { file: from, path: 'detectors' }, taken.detectors),
    ...(await Promise.all(plugin.templates.map((each) => findDocumentProblems(each, from, settings)))).flat(),
    ...plugin.dialects.flatMap((each, at) => findDialectProblems(each, from, ['dialects', at])),
    ...plugin.adapters.flatMap((each, at) => findAdapterProblems(each, from, ['adapters', at])),
  ];
  if (problems.length > 0) return { ok: false, name: plugin.name, problems };
  taken.plugins.add(plugin.name);
  for (const { id } of plugin.detectors) taken.detectors.add(id);
  for (const kind of NAMED) for (const { name } of plugin[kind]) taken[kind].add(name);
  return { ok: true, plugin };
}

function getPlugin({
  name,
  version,
  description = '',
  detectors = [],
  templates = [],
  drivers = [],
  dialects = [],
  adapters = [],
}: WrittenPlugin): Plugin {
  // The settings schema types members with a default as present, and nothing fills them into a plug-in.
  const whole = detectors.map(({ examples, ...each }) => ({
    ...each,
    examples: { hits: examples.hits, misses: examples.misses ?? [] },
  }));
  return { name, version, description, detectors: whole, templates, drivers, dialects, adapters };
}

function readName(value: Json): string | null {
  const { name } = (value ?? {}) as { readonly name?: unknown };
  return typeof name === 'string' && /^[a-z0-9-]{1,64}$/.test(name) ? name : null;
}

/** The kinds of parts with unique names, and the singular of each. */
const NAMED = ['templates', 'drivers', 'dialects', 'adapters'] as const;
const WORDS = {
  templates: 'template',
  drivers: 'driver',
  dialects: 'dialect',
  adapters: 'adapter',
} as const;

function findDuplicateNames(plugin: Plugin, from: string, taken: TakenNames): DocumentProblem[] {
  const twice = NAMED.flatMap((kind) => {
    const seen = new Set(taken[kind]);
    return plugin[kind].flatMap(({ name }, at) => {
      if (!seen.has(name)) {
        seen.add(name);
        return [];
      }
      return buildConfigProblem(from, [kind, at, 'name'], `is taken by another ${WORDS[kind]}`);
    });
  });
  return taken.plugins.has(plugin.name)
    ? [buildConfigProblem(from, ['name'], 'is taken by another plug-in'), ...twice]
    : twice;
}

/** Returns the problems of a template's document, which must be valid on its own in `policies/`. */
async function findDocumentProblems(
  { name, document }: PolicyPack,
  from: string,
  settings: PolicySettings,
): Promise<DocumentProblem[]> {
  const documents = [{ file: `${from}#${name}`, value: document }];
  const cel = usesConditions({ inline_rules: [], documents })
    ? await import('../../core/policy/conditions/cel.ts')
    : null;
  const { problems } = compilePolicy({
    inline_rules: [],
    documents,
    settings: {
      ...settings,
      detection: { detectors: {}, patterns: [], allowlist: [], example_values: 'flag' },
    },
    ...(cel && { conditions: cel.conditionCompiler }),
  });
  return problems.filter(({ level }) => level === 'error');
}

import type { Schema } from '../../core/schema.ts';
import type { DocumentProblem } from '../../core/types/index.ts';
import type { ValueProblem } from './parse-config-value.ts';
import type { PathStep } from './problem-path.ts';
import { type Config, type FeatureSections, spineSchema } from './schema.ts';
import type { ConfigSchema } from './schema-types.ts';

type SectionName = keyof FeatureSections;

/** An address: if a credential is sent there, the URL, the path of the setting, and the data that is sent. */
export type CredentialAddress = readonly [boolean, string | undefined, readonly PathStep[], string];

/** A section of `service.yaml` that belongs to a feature. Steps in its results begin below the section. */
export interface ConfigSection<Name extends SectionName, Settings = FeatureSections[Name]> {
  readonly name: Name;
  /**
   * The section of the spine that it follows in the reference. Without it, its keys are added to the section of the spine
   * that has its name.
   */
  readonly after?: keyof typeof spineSchema.properties;
  readonly schema: Schema<Settings>;
  /** No decision uses its credentials, so a caller that only decides does not read them. */
  readonly is_unused_by_decisions?: true;
  /** Checks the constraints between keys that the schema cannot express. Messages are predicates of sentences. */
  readonly findProblems?: (settings: Settings, config: Config) => readonly ValueProblem[];
  /** Makes the paths of files absolute. */
  readonly resolvePaths?: (settings: Settings, absolute: (path: string) => string) => Settings;
  /** Returns the addresses to which a credential may be sent. */
  readonly listAddresses?: (settings: Settings) => readonly CredentialAddress[];
  /** Adds the contents of the files that the section names. Their paths are absolute by then. */
  readonly readFiles?: (settings: Settings) => Promise<SectionFiles<Settings>>;
}

/** A section with the contents of its files, and the paths of these files. */
export type SectionFiles<Settings> =
  | { readonly ok: true; readonly settings: Settings; readonly files: readonly string[] }
  | { readonly ok: false; readonly problems: readonly DocumentProblem[] };

// biome-ignore lint/suspicious/noExplicitAny: the list holds sections of unlike shapes; `defineConfigSection` types each one.
export type AnyConfigSection = ConfigSection<SectionName, any>;

/** Types a section by the settings that its feature declares. */
export function defineConfigSection<Name extends SectionName>(
  section: ConfigSection<Name>,
): ConfigSection<Name> {
  return section;
}

/** The schema of `service.yaml`, with its sections. */
export type WholeConfigSchema = ConfigSchema & Required<Pick<ConfigSchema, 'properties'>>;

/** Returns the schema of the whole of `service.yaml`: the spine, with each feature's section or keys at their place. */
export function buildConfigSchema(sections: readonly AnyConfigSection[]): WholeConfigSchema {
  const { properties, ...rest } = spineSchema;
  const members = Object.entries<ConfigSchema>(properties).flatMap(([name, schema]) => [
    [
      name,
      addKeys(
        schema,
        sections.filter((each) => each.after === undefined && each.name === name),
      ),
    ] as const,
    ...sections.filter(({ after }) => after === name).map((each) => [each.name, each.schema] as const),
  ]);
  return { ...rest, properties: Object.fromEntries(members) };
}

/** Adds keys, all of which have a default, to a section of the spine. */
function addKeys(schema: ConfigSchema, additions: readonly AnyConfigSection[]): ConfigSchema {
  if (additions.length === 0) return schema;
  const own: readonly ConfigSchema[] = [schema, ...additions.map((each) => each.schema)];
  return { ...schema, properties: Object.assign({}, ...own.map(({ properties }) => properties)) };
}

import type { PatternSettings } from '../../core/policy/compile/custom-pattern.ts';
import type { PolicyPack } from '../../core/policy/templates/index.ts';
import type { DocumentProblem } from '../../core/types/index.ts';
import type { AdapterSpec, DialectSpec } from '../adapters/types.ts';

/** The source from which a plug-in is loaded. */
export interface PluginSource {
  readonly kind: 'file' | 'package';
  /** The name in the configuration: a relative file path, or a package. */
  readonly from: string;
  /** The file to load, absolute. */
  readonly path: string;
}

/** The checked records of a plug-in. */
export interface Plugin {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly detectors: readonly PatternSettings[];
  readonly templates: readonly PolicyPack[];
  readonly drivers: readonly DriverDeclaration[];
  readonly dialects: readonly DialectSpec[];
  readonly adapters: readonly AdapterSpec[];
}

/** The facts about a driver before it is opened. */
export interface DriverDeclaration {
  readonly kind: 'secrets';
  readonly name: string;
  readonly description?: string;
}

/** The kinds of parts that a plug-in can contain, which are the keys of its records. */
export type PlugKind = 'detectors' | 'templates' | 'drivers' | 'dialects' | 'adapters';

/** A plug-in that the configuration names, and its status. Lists the names of its parts by kind. */
export interface PluginReport extends Readonly<Record<PlugKind, readonly string[]>> {
  /** The plug-in's own name, or the name of its file or package if it has none. */
  readonly name: string;
  /** `null` if it has none. */
  readonly version: string | null;
  readonly kind: PluginSource['kind'];
  readonly from: string;
  readonly status: 'active' | 'rejected';
  /** SHA-256 of the loaded file, as hex; `null` if the file could not be read. */
  readonly sha256: string | null;
  /** The reasons why it is excluded. */
  readonly problems: readonly DocumentProblem[];
}

/** The parts of all plug-ins that are in use. Plain data, because workers request it from the parent. */
export interface PluginsInUse {
  readonly plugins: readonly PluginReport[];
  readonly templates: readonly PolicyPack[];
  readonly dialects: readonly DialectSpec[];
  readonly adapters: readonly AdapterSpec[];
}

export const NO_PLUGINS: PluginsInUse = { plugins: [], templates: [], dialects: [], adapters: [] };

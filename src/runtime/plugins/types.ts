import type { PatternSettings } from '../../core/policy/compile/custom-pattern.ts';
import type { PolicyPack } from '../../core/policy/templates/index.ts';
import type { DocumentProblem } from '../../core/types/index.ts';
import type { AdapterSpec, DialectSpec } from '../adapters/types.ts';

/** Where a plug-in is loaded from. */
export interface PluginSource {
  readonly kind: 'file' | 'package';
  /** As the configuration names it: a file relative to it, or a package. */
  readonly from: string;
  /** The file to load, absolute. */
  readonly path: string;
}

/** The records of a plug-in, checked. */
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

/** What is known of a driver before it is opened. */
export interface DriverDeclaration {
  readonly kind: 'secrets';
  readonly name: string;
  readonly description?: string;
}

/** What a plug-in can bring, by the keys of its records. */
export type PlugKind = 'detectors' | 'templates' | 'drivers' | 'dialects' | 'adapters';

/** A plug-in that the configuration names, and what became of it: the names of what it brings, by their kinds. */
export interface PluginReport extends Readonly<Record<PlugKind, readonly string[]>> {
  /** Its own name; where it gave none, that of its file or package. */
  readonly name: string;
  /** `null` where it gave none. */
  readonly version: string | null;
  readonly kind: PluginSource['kind'];
  readonly from: string;
  readonly status: 'active' | 'rejected';
  /** SHA-256 of the file that was loaded, as hex; `null` where it could not be read. */
  readonly sha256: string | null;
  /** Why it is left out. */
  readonly problems: readonly DocumentProblem[];
}

/** What of all plug-ins is in use: plain data, for workers ask the parent for it. */
export interface PluginsInUse {
  readonly plugins: readonly PluginReport[];
  readonly templates: readonly PolicyPack[];
  readonly dialects: readonly DialectSpec[];
  readonly adapters: readonly AdapterSpec[];
}

export const NO_PLUGINS: PluginsInUse = { plugins: [], templates: [], dialects: [], adapters: [] };

import type { WrittenPattern } from '../../core/compile/custom-pattern.ts';
import type { Template } from '../../core/templates/index.ts';
import type { Problem } from '../../core/types.ts';

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
  readonly detectors: readonly WrittenPattern[];
  readonly templates: readonly Template[];
}

/** A plug-in that the configuration names, and what became of it. */
export interface PluginReport {
  /** Its own name; where it gave none, that of its file or package. */
  readonly name: string;
  /** `null` where it gave none. */
  readonly version: string | null;
  readonly kind: PluginSource['kind'];
  readonly from: string;
  readonly status: 'active' | 'left_out';
  /** SHA-256 of the file that was loaded, as hex; `null` where it could not be read. */
  readonly sha256: string | null;
  /** What it brings: the ids of detectors, and the names of templates. */
  readonly detectors: readonly string[];
  readonly templates: readonly string[];
  /** Why it is left out. */
  readonly problems: readonly Problem[];
}

/** What of all plug-ins is in use: plain data, for workers ask the parent for it. */
export interface PluginsInUse {
  readonly plugins: readonly PluginReport[];
  readonly templates: readonly Template[];
}

export const NO_PLUGINS: PluginsInUse = { plugins: [], templates: [] };

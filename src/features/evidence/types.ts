/** The range of time of a pack: milliseconds since 1970, UTC; the end is exclusive. */
export interface EvidenceWindow {
  readonly since_ms: number;
  readonly until_ms: number;
}

/** A range of consecutive records of one writer. */
export interface ChainRun {
  readonly first_seq: number;
  readonly last_seq: number;
}

/** A file of a pack, as its manifest lists it. */
export interface PackFile {
  readonly path: string;
  readonly bytes: number;
  /** 64 hex digits. */
  readonly sha256: string;
}

/** The records of one writer in a pack. */
export interface PackWriter {
  readonly writer: string;
  /** `journal/<writer>.jsonl`; `null` if the chain began after the window. */
  readonly file: string | null;
  /** The signed record of files that were deleted by age; `null` if none was. */
  readonly retired: string | null;
  readonly runs: readonly ChainRun[];
  /** The last run ended where the chain ended when the pack was made. */
  readonly reaches_end: boolean;
  /** The time of the chain's first record, if it began after the window. */
  readonly began_at: string | null;
  /** The records whose content was left out, because they belong to other tenants. */
  readonly omitted: number;
}

/** `manifest.json`: what the signature of a pack covers. */
export interface PackManifest {
  readonly format: 1;
  /** The version of the service that made the pack. */
  readonly service_version: string;
  readonly window: { readonly since: string; readonly until: string };
  /** The only tenant whose events have their content; `null` for all. */
  readonly tenant_id: string | null;
  readonly framework: string | null;
  /** The key that signed the manifest. */
  readonly key_id: string;
  /** The events within the window that have their content. */
  readonly events: number;
  readonly writers: readonly PackWriter[];
  readonly policies: {
    /** The policies of the events, by hash, that are in the pack. */
    readonly included: readonly string[];
    /** Those that are not saved any more, or that hold the rules of other tenants. */
    readonly left_out: readonly string[];
  };
  /** All other files in the order of the archive, without `manifest.json` and `manifest.sig`. */
  readonly files: readonly PackFile[];
}

/** The progress of work on the journal, in bytes of its files as they are on the disk. */
export interface EvidenceProgress {
  readonly done_bytes: number;
  readonly total_bytes: number;
}

/** The result of the verification of a pack. */
export interface PackReport {
  readonly intact: boolean;
  readonly window: { readonly since: string; readonly until: string } | null;
  readonly tenant_id: string | null;
  readonly framework: string | null;
  /** Events within the window. */
  readonly events: number;
  readonly records: number;
  /** Records without their content. */
  readonly omitted: number;
  /** Left-out records of an earlier version, whose link to the record before only the signature of the pack proves. */
  readonly attested_links: number;
  readonly checkpoints: number;
  readonly unsigned_tail: number;
  readonly files: number;
  readonly bytes: number;
  readonly key: {
    readonly key_id: string;
    /** `sha256:` and 64 hex digits over the public key (SPKI, DER). */
    readonly fingerprint: string;
    readonly source: 'given' | 'pack';
  } | null;
  readonly writers: readonly {
    readonly writer: string;
    readonly records: number;
    readonly events: number;
    readonly omitted: number;
    readonly checkpoints: number;
    readonly unsigned_tail: number;
    readonly first_seq: number;
    readonly last_seq: number;
    readonly retired_seq: number;
  }[];
  readonly broken: {
    readonly file: string;
    /** From 1. */
    readonly line: number | null;
    readonly event_id: string | null;
    readonly reason: string;
  } | null;
  readonly warnings: readonly string[];
}

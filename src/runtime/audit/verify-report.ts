/** The result for one writer's chain. */
export interface WriterReport {
  readonly writer: string;
  readonly segments: number;
  readonly records: number;
  readonly events: number;
  /** Shown actions that an operator erased. */
  readonly erased_actions: number;
  /** The number of verified signatures. */
  readonly checkpoints: number;
  /** The first line in the files; above 1 if older files were deleted by age. */
  readonly first_seq: number;
  readonly last_seq: number;
  readonly last_hash: string;
  /** Lines after the last checkpoint. Anyone who can write the files could rewrite these undetected. */
  readonly unsigned_tail: number;
  /** Bytes of a line that is being written, or that a crash has torn. */
  readonly torn_bytes: number;
  readonly cuts: number;
  /** The files that were deleted by age; `null` if none was. */
  readonly retired: RetiredReport | null;
}

/** Records that were deleted by age, as the signed record in their place says. */
export interface RetiredReport {
  /** The last record that was deleted. */
  readonly last_seq: number;
  readonly last_hash: string;
  readonly timestamp: string;
  /** The audit event that recorded the deletion; `null` if there is none, as in journals of earlier versions. */
  readonly event_id: string | null;
}

/** The first place that differs from what was written. */
export interface ChainBreak {
  readonly writer: string;
  /** `worker-1/000000000000001.jsonl`; `null` if the break concerns the whole folder. */
  readonly file: string | null;
  /** From 1, in the uncompressed file; `null` if the break concerns a whole file. */
  readonly line: number | null;
  /** The number of the record that is expected at this place. */
  readonly seq: number;
  /** The reason, as a sentence. */
  readonly reason: string;
}

export interface VerifyReport {
  /** `true` if there is no break, and every signature could be checked. */
  readonly intact: boolean;
  /** The IDs of public keys that are missing. Without them it is unknown whether the chains are intact. */
  readonly missing_keys: readonly string[];
  readonly writers: readonly WriterReport[];
  readonly broken: ChainBreak | null;
  /** Sentences about findings that are not faults of the chain. */
  readonly warnings: readonly string[];
}

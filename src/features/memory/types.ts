import type { Content, Crossing, Json, MemoryField, MemorySchema, Tag } from '../../core/types/index.ts';
import type { JsonSource } from '../../core/types/json.ts';
import type { Caller } from '../../runtime/access/types.ts';
import type { Ruling } from '../../runtime/enforcement/types.ts';

declare module '../../operations/runtime.ts' {
  interface Runtime {
    /** What agents remember. Loaded with the first call that asks for it. */
    readonly memory: () => Promise<Memory>;
  }
}

/** What agents may ask of their memory. All is written down before it is answered; all rejects with `Unavailable`. */
export interface Memory {
  readonly write: (
    subject: MemorySubject,
    caller: Caller,
    request: MemoryWriteRequest,
  ) => Promise<MemoryWriteResult>;
  /** One key: its value, or for an encrypted field the handle in its place. */
  readonly readKey: (
    subject: MemorySubject,
    caller: Caller,
    key: string,
    schema: string | null,
  ) => Promise<MemoryReadResult>;
  /** All that there is, without values. */
  readonly list: (
    subject: MemorySubject,
    caller: Caller,
    schema: string | null,
    limit: number,
  ) => Promise<MemoryReadResult>;
  readonly resolve: (subject: MemorySubject, caller: Caller, handle_id: string) => Promise<MemoryReadResult>;
  /** Deletes what has expired, of all agents; gives how many entries. */
  readonly purge: (caller: Caller) => Promise<number>;
}

/** Whose memory is asked for, and by whom, after the credential's scope had its say. */
export interface MemorySubject {
  readonly tenant_id: string;
  readonly agent_id: string;
  readonly session_id: string | null;
  readonly user_id: string | null;
  readonly source_agent_id: string | null;
  readonly destination_agent_id: string | null;
}

export interface MemoryWriteRequest {
  readonly key: string;
  readonly value: Json;
  /** The text that the value was sent as; without it, it is as `JSON.stringify` writes it. */
  readonly source?: JsonSource;
  /** The memory document; `null` takes the first that has the key. */
  readonly schema: string | null;
  readonly declared_tags: readonly Tag[];
}

/** What came of a write. Nothing is stored where `entry` is `null`. */
export interface MemoryWriteResult {
  readonly ruling: Ruling;
  /** For the places of findings in an answer. */
  readonly crossing: Crossing;
  readonly entry: { readonly entry_id: string; readonly expires_at_ms: number } | null;
  /** What was stored instead of the value, where the policy changed it. */
  readonly changed: Content | null;
}

/** What came of a read or of a handle. */
export interface MemoryReadResult {
  readonly ruling: Ruling;
  readonly crossing: Crossing;
  /** The value as the policy lets it be; `null` where none is given, for no field holds `null`. */
  readonly value: Json;
  readonly entries: readonly MemoryEntryMetadata[];
  /** There are more than were asked for. */
  readonly truncated: boolean;
  /** Required fields that have no entry. */
  readonly missing: readonly string[];
}

/** An entry without its value. */
export interface MemoryEntryMetadata {
  readonly entry_id: string;
  readonly schema_name: string;
  readonly scope: MemorySchema['scope'];
  readonly field: MemoryField;
  readonly data_tags: readonly Tag[];
  readonly value_bytes: number;
  readonly created_at_ms: number;
  readonly expires_at_ms: number;
}

import type { Content, Json, Principal, Tag } from '../../core/types/index.ts';
import type { JsonSource } from '../../core/types/json.ts';
import type { Caller } from '../../runtime/access/types.ts';
import type { Ruling } from '../../runtime/enforcement/types.ts';
import type { MemoryEntryMetadata } from './entry-metadata.ts';

declare module '../../operations/runtime.ts' {
  interface Runtime {
    /** Agent memory. Loaded on first use. */
    readonly memory: () => Promise<Memory>;
  }
}

/** The operations of agent memory. Each records its audit event before it resolves, and rejects with `Unavailable`. */
export interface Memory {
  readonly write: (
    subject: MemorySubject,
    caller: Caller,
    request: MemoryWriteRequest,
  ) => Promise<MemoryWriteResult>;
  /** Returns the value of a key, or its handle if the field is encrypted. */
  readonly readKey: (
    subject: MemorySubject,
    caller: Caller,
    key: string,
    schema: string | null,
  ) => Promise<MemoryReadResult>;
  /** Lists the entries without their values. */
  readonly list: (
    subject: MemorySubject,
    caller: Caller,
    schema: string | null,
    limit: number,
  ) => Promise<MemoryReadResult>;
  readonly resolve: (subject: MemorySubject, caller: Caller, handleId: string) => Promise<MemoryReadResult>;
  /** Deletes the expired entries of all agents and returns their number. */
  readonly purge: (caller: Caller) => Promise<number>;
}

/** The owner of the memory and the acting agents, after the credential's scope was checked. */
export interface MemorySubject {
  readonly tenant_id: string;
  readonly agent_id: string;
  readonly session_id: string | null;
  readonly user_id: string | null;
  readonly source_agent_id: string | null;
  readonly destination_agent_id: string | null;
  readonly principal?: Principal;
}

export interface MemoryWriteRequest {
  readonly key: string;
  readonly value: Json;
  /** The JSON text of the value as sent; default `JSON.stringify(value)`. */
  readonly source?: JsonSource;
  /** The memory document; `null` uses the first that declares the key. */
  readonly schema: string | null;
  readonly declared_tags: readonly Tag[];
}

/** The result of a write. Nothing is stored if `entry` is `null`. */
export interface MemoryWriteResult {
  readonly ruling: Ruling;
  readonly entry: { readonly entry_id: string; readonly expires_at_ms: number } | null;
  /** The stored content if the policy changed the value. */
  readonly changed: Content | null;
}

/** The result of a read or of resolving a handle. */
export interface MemoryReadResult {
  readonly ruling: Ruling;
  /** The value after the policy was applied; `null` means no value, because no field holds `null`. */
  readonly value: Json;
  readonly entries: readonly MemoryEntryMetadata[];
  /** True if there are more entries than the limit. */
  readonly truncated: boolean;
  /** Required fields that have no entry. */
  readonly missing: readonly string[];
}

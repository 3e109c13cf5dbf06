import { randomBytes } from 'node:crypto';
import { readOwnFileSync } from '../platform/files/own-file.ts';
import { writePrivateFile } from '../platform/files/private-file.ts';
import { parseStoreSettings } from '../platform/store/settings.ts';
import type { IndexAddress } from '../runtime/audit/audit-index.ts';
import { AuditFailure } from '../runtime/audit/failure.ts';
import { INDEX_OFF } from '../runtime/audit/lazy-index.ts';
import type { Config } from '../runtime/config/index.ts';
import { buildStatePaths } from './state-dir.ts';

/** The part of the configuration that selects the audit index. */
export type IndexConfig = Pick<Config, 'audit' | 'origin' | 'state_dir' | 'storage'>;

/** Returns the address of the audit index; `null` with `audit.index: off`. */
export function readIndexAddress(config: IndexConfig): IndexAddress | null {
  const { audit, state_dir } = config;
  if (audit.index === 'off') return null;
  const store = parseStoreSettings(config);
  // `validate` refuses an index in PostgreSQL without a store there.
  if (audit.index === 'sqlite' || store.kind === 'sqlite') return { path: buildStatePaths(state_dir).index };
  return { url: store.url, node: readIndexNode(state_dir), kept_days: audit.max_age_days };
}

/** Returns the address of the audit index. @throws AuditFailure `index_off` without one */
export function requireIndexAddress(config: IndexConfig): IndexAddress {
  const address = readIndexAddress(config);
  if (address === null) throw new AuditFailure('index_off', INDEX_OFF);
  return address;
}

/** Returns the name of a state folder in a shared index. It is created once and stays with the folder. */
function readIndexNode(stateDir: string): string {
  const { index_node: path } = buildStatePaths(stateDir);
  writePrivateFile(path, `${randomBytes(12).toString('hex')}\n`, 'keep');
  return readOwnFileSync(path).trim();
}

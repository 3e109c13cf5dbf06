import type { AuditIndex, IndexAddress } from './audit-index.ts';
import { openSqliteIndex } from './sqlite-index.ts';

/**
 * Opens the index. The writer migrates its tables, and replaces a damaged file. Readers open it as it is.
 *
 * @throws AuditFailure `index_newer` if a later version of the program made the index; `index_foreign` or
 * `index_damaged` if the tables in a database are not those that this program made
 */
export async function openIndex(
  options: IndexAddress & { readonly read_only?: boolean },
): Promise<AuditIndex> {
  const readOnly = options.read_only ?? false;
  if ('path' in options) return openSqliteIndex(options.path, readOnly);
  const { openPostgresIndex } = await import('./postgres-index.ts');
  return openPostgresIndex(options, readOnly);
}

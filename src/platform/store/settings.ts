import { join, resolve } from 'node:path';
import { isLoopbackHost } from '../net/loopback.ts';

/** The kind of the store, and its location. */
export type StoreSettings =
  | { readonly kind: 'sqlite'; readonly path: string; readonly patience_ms?: number }
  | { readonly kind: 'postgres'; readonly url: string; readonly patience_ms?: number };

/** The part of the configuration that selects the store. */
export interface StorageConfig {
  readonly state_dir: string;
  readonly storage: { readonly url?: string };
  readonly origin: { readonly base_dir: string };
}

/**
 * Parses `storage.url`. Without it, the store is a file in the state folder. Relative paths start at the
 * configuration's folder.
 */
export function parseStoreSettings(config: StorageConfig): StoreSettings {
  const { url } = config.storage;
  if (url === undefined) return { kind: 'sqlite', path: join(config.state_dir, 'store.db') };
  if (!url.startsWith('sqlite:')) return { kind: 'postgres', url };
  return { kind: 'sqlite', path: resolve(config.origin.base_dir, url.slice('sqlite:'.length)) };
}

/** Returns warnings about these settings for the operator, one sentence each. */
export function listStoreWarnings(settings: StoreSettings): string[] {
  if (settings.kind === 'sqlite' || !URL.canParse(settings.url)) return [];
  const { hostname, searchParams } = new URL(settings.url);
  const isLocal = hostname === '' || isLoopbackHost(hostname.replace(/^\[|\]$/g, ''));
  const isEncrypted = ![null, 'disable'].includes(searchParams.get('sslmode')) || searchParams.has('ssl');
  if (isLocal || isEncrypted) return [];
  return [
    'The connection to the database of `storage.url` is not encrypted. Add `?sslmode=verify-full` to it.',
  ];
}

/** Describes the location of the store for operators: a file, or a database without user and password. */
export function describeStore(settings: StoreSettings): string {
  if (settings.kind === 'sqlite') return settings.path;
  if (!URL.canParse(settings.url)) return 'PostgreSQL';
  const { host, pathname } = new URL(settings.url);
  return `PostgreSQL at ${host || 'this machine'}, database ${pathname.slice(1) || '(the default one)'}`;
}

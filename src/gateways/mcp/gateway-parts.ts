import type { ResourceWatcher } from './resource-watcher.ts';
import type { UpstreamServer } from './upstream-server.ts';

/** What one connection of a client stands on. */
export interface GatewayParts {
  readonly servers: readonly UpstreamServer[];
  /** What the client wants to be told of; `null` where nothing can be told to it. */
  readonly watcher: ResourceWatcher | null;
  readonly version: string;
  readonly title: string;
  /** What the client is told of the servers' use; only where it connects. */
  readonly instructions?: string | undefined;
  /** Told of a list that comes later than it was waited for. */
  readonly onLateList: (behind: UpstreamServer, list: 'tools' | 'resources' | 'prompts') => void;
  /** Told of faults and of the failures of servers, for the log. */
  readonly logFailure: (server: string, what: string, error: unknown) => void;
}

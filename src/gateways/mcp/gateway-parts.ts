import type { ResourceWatcher } from './resource-watcher.ts';
import type { UpstreamServer } from './upstream-server.ts';

/** The dependencies of one client connection. */
export interface GatewayParts {
  readonly servers: readonly UpstreamServer[];
  /** The client's subscriptions; `null` if the client cannot receive notifications. */
  readonly watcher: ResourceWatcher | null;
  readonly version: string;
  readonly title: string;
  /** The instructions of the servers; only set when the client connects. */
  readonly instructions?: string | undefined;
  /** Called if a list arrives after the response was sent. */
  readonly onListFailure: (target: UpstreamServer, list: 'tools' | 'resources' | 'prompts') => void;
  /** Receives faults and failures of servers, for the log. */
  readonly logFailure: (server: string, what: string, error: unknown) => void;
}

import type { Behind } from './behind.ts';
import type { Watching } from './watching.ts';

/** What one connection of a client stands on. */
export interface GatewayParts {
  readonly behinds: readonly Behind[];
  /** What the client wants to be told of; `null` where nothing can be told to it. */
  readonly watching: Watching | null;
  readonly version: string;
  readonly title: string;
  /** What the client is told of the servers' use; only where it connects. */
  readonly instructions?: string | undefined;
  /** Told of a list that comes later than it was waited for. */
  readonly arrived: (behind: Behind, list: 'tools' | 'resources' | 'prompts') => void;
  /** Told of faults and of the failures of servers, for the log. */
  readonly failed: (server: string, what: string, error: unknown) => void;
}

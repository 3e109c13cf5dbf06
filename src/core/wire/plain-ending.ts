import type { StreamEnding, WireError } from './wire-format.ts';

/**
 * An ending that needs to know nothing of what went out.
 * @param denialEvents the events that end a stream because the policy blocks
 * @param errorEvents the events that end it because it failed
 */
export function createPlainEnding(
  denialEvents: (error: WireError) => string,
  errorEvents: (error: WireError) => string,
): () => StreamEnding {
  return () => ({ forward: (data) => data, denialEvents, errorEvents });
}

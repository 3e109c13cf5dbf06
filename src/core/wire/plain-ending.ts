import type { StreamEnding, WireError } from './wire-format.ts';

/**
 * Creates an ending that does not depend on the events that were sent.
 *
 * @param denialEvents the events that end a stream when the policy blocks
 * @param errorEvents the events that end a stream when it fails
 */
export function createPlainEnding(
  denialEvents: (error: WireError) => string,
  errorEvents: (error: WireError) => string,
): () => StreamEnding {
  return () => ({ forward: (data) => data, denialEvents, errorEvents });
}

import { writeGeminiErrorBody, writeGeminiErrorEvents } from './gemini-errors.ts';
import { writeSseEvent } from './sse.ts';
import type { StreamEnding, WireError } from './wire-format.ts';

/**
 * Ends a stream of Gemini's. After a block the last piece of text is the reason, and an error event follows. SDKs
 * raise the error. Gemini CLI ignores it, and would retry if there were no finish reason.
 */
export function openGeminiEnding(): StreamEnding {
  let is_begun = false;
  return {
    forward: (data) => {
      is_begun = true;
      return data;
    },
    denialEvents: (error) => writeLastPiece(error, is_begun) + writeSseEvent('', writeGeminiErrorBody(error)),
    errorEvents: writeGeminiErrorEvents,
  };
}

function writeLastPiece({ message }: WireError, is_begun: boolean): string {
  const text = is_begun ? `\n\n${message}` : message;
  const content = { role: 'model', parts: [{ text }] };
  return writeSseEvent('', JSON.stringify({ candidates: [{ index: 0, content, finishReason: 'STOP' }] }));
}

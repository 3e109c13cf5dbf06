import { writeGeminiErrorBody, writeGeminiErrorEvents } from './gemini-errors.ts';
import { writeSseEvent } from './sse.ts';
import type { StreamEnding, WireError } from './wire-format.ts';

/**
 * Ends a stream of Gemini's. After a block the last piece of text is the reason, and an error event follows. SDKs
 * raise the error. Gemini CLI ignores it, and would retry if there were no finish reason.
 */
export function openGeminiEnding(): StreamEnding {
  let isBegun = false;
  return {
    forward: (data) => {
      isBegun = true;
      return data;
    },
    denialEvents: (error) => writeLastPiece(error, isBegun) + writeSseEvent('', writeGeminiErrorBody(error)),
    errorEvents: writeGeminiErrorEvents,
  };
}

function writeLastPiece({ message }: WireError, isBegun: boolean): string {
  const text = isBegun ? `\n\n${message}` : message;
  const content = { role: 'model', parts: [{ text }] };
  return writeSseEvent('', JSON.stringify({ candidates: [{ index: 0, content, finishReason: 'STOP' }] }));
}

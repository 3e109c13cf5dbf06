/** Answers to messages that do not follow JSON-RPC, so that no client waits for an answer that never comes. */

const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;

/** The id of a request as far as an answer can repeat it. */
export type MessageId = string | number | null;

/** The answer to a message that cannot be read. */
export interface ErrorAnswer {
  readonly jsonrpc: '2.0';
  readonly id: MessageId;
  readonly error: { readonly code: number; readonly message: string };
}

/** Builds the answer to a line that is not a message; `null` if it has none, such as an answer itself. */
export function buildUnreadableAnswer(line: string): ErrorAnswer | readonly ErrorAnswer[] | null {
  let message: unknown;
  try {
    message = JSON.parse(line);
  } catch {
    return buildErrorAnswer(null, PARSE_ERROR, 'The message is not JSON.');
  }
  return buildInvalidMessageAnswer(message);
}

/** Builds the answer to JSON that is not a message; `null` if it has none. */
export function buildInvalidMessageAnswer(message: unknown): ErrorAnswer | readonly ErrorAnswer[] | null {
  if (!Array.isArray(message)) return buildInvalidAnswer(message, INVALID);
  if (message.length === 0) return buildErrorAnswer(null, INVALID_REQUEST, BATCH);
  const answers = message.flatMap((each) => buildInvalidAnswer(each, BATCH) ?? []);
  return answers.length === 0 ? null : answers;
}

/** Builds the answer to a message over the limit. */
export function buildTooLongAnswer(id: MessageId, sentence: string): ErrorAnswer {
  return buildErrorAnswer(id, INVALID_REQUEST, sentence);
}

/**
 * Returns the id in the first or last part of a long message; `null` if there is none. Servers write the id before or
 * after everything else.
 */
export function findMessageId(head: string, tail: string): MessageId {
  const found = ID_FIRST.exec(head)?.[1] ?? ID_LAST.exec(tail)?.[1];
  return found === undefined ? null : (JSON.parse(found) as MessageId);
}

const ID = '("[^"\\\\]{1,200}"|-?\\d{1,15})';
const VERSION = '"jsonrpc"\\s*:\\s*"2\\.0"';
const ID_FIRST = new RegExp(`^\\s*\\{\\s*(?:${VERSION}\\s*,\\s*)?"id"\\s*:\\s*${ID}\\s*,`);
const ID_LAST = new RegExp(`,\\s*"id"\\s*:\\s*${ID}\\s*(?:,\\s*${VERSION}\\s*)?\\}\\s*$`);

const INVALID = 'The message is not a JSON-RPC 2.0 request with an id that is a text or an integer.';
const BATCH = 'Batches are not supported: send each message by itself.';

function buildInvalidAnswer(message: unknown, sentence: string): ErrorAnswer | null {
  const { id, method, ...others } = (message ?? {}) as Readonly<Record<string, unknown>>;
  if (method === undefined && ('result' in others || 'error' in others)) return null;
  // A notification has no answer, also if it is in a batch. An invalid one is none.
  const isStructured =
    others.params === undefined || (typeof others.params === 'object' && others.params !== null);
  if (id === undefined && typeof method === 'string' && others.jsonrpc === '2.0' && isStructured) return null;
  const known = typeof id === 'string' || typeof id === 'number' ? id : null;
  return buildErrorAnswer(known, INVALID_REQUEST, sentence);
}

function buildErrorAnswer(id: MessageId, code: number, message: string): ErrorAnswer {
  return { jsonrpc: '2.0', id, error: { code, message } };
}

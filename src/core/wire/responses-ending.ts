import { parseJsonTree } from '../json/json-tree.ts';
import { getMember } from '../json/nodes.ts';
import { applySplices } from '../json/splice.ts';
import type { NumberNode } from '../types/json.ts';
import { buildErrorObject } from './openai-errors.ts';
import { writeSseEvent } from './sse.ts';
import type { StreamEnding, WireError } from './wire-format.ts';

/**
 * Ends a stream of the Responses API, and keeps its sequence numbers unique and increasing if events were added. It
 * ends with an `error` event, at which the official clients raise, and with `response.failed`, which coding agents
 * read. At the code `invalid_prompt` they stop, and at any other code they retry.
 */
export function openResponsesEnding(): StreamEnding {
  let last = -1;
  let response: object = { object: 'response', output: [] };
  const end = (error: WireError, code: string): string => {
    const { message, request_id, extra } = error;
    const failed = { ...response, status: 'failed', error: { code, message }, incomplete_details: null };
    const events = [
      { type: 'error', code: error.code, message, param: null, error: buildErrorObject(error), request_id },
      { type: 'response.failed', response: failed, request_id },
    ];
    return events
      .map((event, at) => {
        const numbered = { ...extra, ...event, sequence_number: last + 1 + at };
        return writeSseEvent(event.type, JSON.stringify(numbered));
      })
      .join('');
  };
  return {
    forward: (data) => {
      if (data.includes('"response.created"')) response = parseCreatedResponse(data) ?? response;
      const number = findSequenceNumber(data);
      if (number === null) return data;
      const { start, end: until, value } = number;
      last = Math.max(last + 1, value);
      return last === value ? data : applySplices(data, [{ start, end: until, text: `${last}` }]);
    },
    denialEvents: (error) => end(error, 'invalid_prompt'),
    errorEvents: (error) => end(error, 'server_error'),
  };
}

const KEY = '"sequence_number"';
const LIMITS = { depth_max: 200, nodes_max: 1_000_000 };

/**
 * Returns the sequence number of an event. The event is parsed only if the key occurs more than once in it.
 */
function findSequenceNumber(data: string): Pick<NumberNode, 'start' | 'end' | 'value'> | null {
  const at = data.indexOf(KEY);
  if (at === -1) return null;
  if (at === data.lastIndexOf(KEY)) {
    const found = /^\s*:\s*(\d{1,15})(?=\s*[,}])/.exec(data.slice(at + KEY.length, at + KEY.length + 64));
    if (found !== null) {
      const end = at + KEY.length + found[0].length;
      return { start: end - found[1]!.length, end, value: Number(found[1]) };
    }
  }
  const node = parseJsonTree(data, LIMITS);
  const number = node.kind === 'problem' ? null : getMember(node, 'sequence_number');
  return number?.kind === 'number' && Number.isSafeInteger(number.value) ? number : null;
}

function parseCreatedResponse(data: string): object | null {
  try {
    const { type, response } = JSON.parse(data);
    return type === 'response.created' && typeof response === 'object' ? response : null;
  } catch {
    return null;
  }
}

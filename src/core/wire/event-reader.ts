import { parseJsonTree } from '../json/json-tree.ts';
import type { JsonNode } from '../types/json.ts';
import { isUnambiguous } from './ambiguity.ts';
import {
  type AnswerDraft,
  addPositions,
  buildEventParts,
  buildWireAnswer,
  createAnswerDraft,
  createChannels,
  endStream,
  failAnswer,
} from './answer-draft.ts';
import type { WireVocabulary } from './vocabulary.ts';
import type { EventReader, WireAnswer } from './wire-format.ts';

/**
 * Reads an answer, or one of its events whose `event` field is `name`. Returns `false` if the body does not belong
 * to the protocol or cannot be guarded.
 */
export type BodyReader = (draft: AnswerDraft, body: JsonNode, name: string) => boolean;

/** Limits for one event. The size of its text is limited where it is received. */
const LIMITS = { depth_max: 200, nodes_max: 1_000_000 };

/** The maximum number of open channels; no real answer has as many. Each one uses memory until it closes. */
const CHANNELS_MAX = 4096;

/**
 * Returns a reader of events that contain JSON objects. OpenAI's final `[DONE]` ends a stream of any format.
 */
export function createEventReader(vocabulary: WireVocabulary, readBody: BodyReader): EventReader {
  const channels = createChannels();
  return {
    read: ({ data, name }) => {
      const draft = createAnswerDraft(vocabulary, channels);
      if (data.trim() === '') return buildEventParts(draft);
      if (data.trim() === '[DONE]') {
        endStream(draft);
        return buildEventParts(draft);
      }
      const body = parseJsonTree(data, LIMITS);
      if (body.kind !== 'object' || !isUnambiguous(body, vocabulary)) return null;
      if (!readBody(draft, body, name)) return null;
      addPositions(draft, body);
      return channels.open.size + channels.closed.size > CHANNELS_MAX ? null : buildEventParts(draft);
    },
  };
}

/** Reads a whole answer with the reader of its events; `null` if it is not an object or cannot be guarded. */
export function readWholeAnswer(
  vocabulary: WireVocabulary,
  readBody: BodyReader,
  body: JsonNode,
): WireAnswer | null {
  if (body.kind !== 'object' || !isUnambiguous(body, vocabulary)) return null;
  const draft = createAnswerDraft(vocabulary);
  return readBody(draft, body, '') ? buildWireAnswer(draft) : null;
}

/**
 * Sets the name of an event to its type. Some clients use the name and others the type, so an event in which they
 * differ is refused.
 */
export function setEventName(draft: AnswerDraft, name: string, type: string | null): void {
  if (type === null || !EVENT_NAME.test(type) || (name !== '' && name !== type)) failAnswer(draft);
  draft.name = type ?? '';
}

const EVENT_NAME = /^[\w.-]{1,100}$/;

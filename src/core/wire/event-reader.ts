import { parseJsonTree } from '../json/json-tree.ts';
import type { JsonNode } from '../types/json.ts';
import { isUnambiguous } from './ambiguity.ts';
import {
  type AnswerDraft,
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
 * Reads an answer, or an event of one whose `event` field is `name`. `false` where it is nothing of the protocol, or
 * nothing that can be guarded.
 */
export type BodyReader = (draft: AnswerDraft, body: JsonNode, name: string) => boolean;

/** A text has a size limit already where it comes in; these bound what is made of one event. */
const LIMITS = { depth_max: 200, nodes_max: 1_000_000 };

/** More texts and calls side by side than any answer has; each holds memory until it ends. */
const CHANNELS_MAX = 4096;

/** A reader of events that hold JSON objects. `[DONE]`, with which OpenAI ends streams, ends any. */
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
      return channels.open.size + channels.closed.size > CHANNELS_MAX ? null : buildEventParts(draft);
    },
  };
}

/** Reads a whole answer with the reader of its events; `null` if it is no object, or nothing that can be guarded. */
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
 * Gives an event the name of its type. Some clients go by the one and some by the other, so that an event in which
 * they differ is refused.
 */
export function setEventName(draft: AnswerDraft, name: string, type: string | null): void {
  if (type === null || !EVENT_NAME.test(type) || (name !== '' && name !== type)) failAnswer(draft);
  draft.name = type ?? '';
}

const EVENT_NAME = /^[\w.-]{1,100}$/;

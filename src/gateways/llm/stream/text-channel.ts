import type { StreamGuard, StreamRelease } from '../../../core/stream/stream.ts';
import type { Splice, StringNode } from '../../../core/types/json.ts';
import type { EventParts, EventPiece, SseEvent } from '../../../core/wire/wire-format.ts';
import { buildStringSplice } from '../texts.ts';
import type { TokenMap, TokenRestorer } from '../token-map.ts';
import { createOutgoingEvent, type OutgoingEvent } from './outgoing-event.ts';

/** One text of a streamed answer: the received text and the part of it that may be sent. */
export interface TextChannel {
  /** Returns the text to send for a piece; `null` if the stream is blocked. */
  readonly push: (text: string) => string | null;
  /** Returns the held text; `null` if the stream is blocked, `''` on later calls. */
  readonly end: () => string | null;
  readonly hasEnded: () => boolean;
  /** Returns whether the sent text so far equals the received text. */
  readonly isWhole: () => boolean;
  /** All received text (`came`), and all sent text once the channel has ended (`shown`). */
  readonly received: () => string;
  readonly shown: () => string;
  /** The last event with a piece of this text, reused to send held text. */
  template: Template | null;
}

/** An event that can be sent again with another text. */
interface Template {
  /** The event as sent; its edits stay applied. */
  readonly outgoing: OutgoingEvent;
  readonly node: StringNode;
  /** The other pieces in the event, which must not be sent twice. */
  readonly others: readonly StringNode[];
  /** Removes the repetitions of its text in other forms. */
  readonly echoes: readonly Splice[];
  /** Removes the members that the protocol does not define, which are sent once. */
  readonly removals: readonly Splice[];
}

/** Opens a text channel; `guard` judges its pieces. */
export function openTextChannel(guard: StreamGuard, tokens: TokenMap | null): TextChannel {
  const restorer: TokenRestorer | null = tokens?.openRestorer() ?? null;
  let verdict: StreamRelease['verdict'] = null;
  let isStopped = false;
  let isAltered = false;
  let pending = '';
  const release = ({ text, decision, verdict: ended }: StreamRelease, isLast: boolean): string | null => {
    verdict ??= ended;
    isStopped ||= decision === 'block';
    if (isStopped) return null;
    const shown = restorer === null ? text : restorer.push(text) + (isLast ? restorer.end() : '');
    isAltered ||= !pending.startsWith(shown);
    pending = isAltered ? '' : pending.slice(shown.length);
    return shown;
  };
  return {
    template: null,
    push: (text) => {
      if (!isAltered) pending += text;
      return release(guard.push(text), false);
    },
    end: () => {
      if (isStopped) return null;
      return verdict === null ? release(guard.end(), true) : '';
    },
    hasEnded: () => verdict !== null,
    isWhole: () => !isAltered && pending === '',
    received: guard.text,
    shown: () => {
      const judged = verdict?.content?.kind === 'text' ? verdict.content.text : guard.text();
      return tokens === null ? judged : tokens.restore(judged);
    },
  };
}

/** Stores the event of a piece as template. An event with this piece alone is preferred. */
export function storeTemplate(
  channel: TextChannel,
  piece: EventPiece,
  outgoing: OutgoingEvent,
  { pieces, echoes, removals }: EventParts,
): void {
  const { node } = piece;
  if (node.kind !== 'string') return;
  const others = pieces.flatMap((each) => (each !== piece && each.node.kind === 'string' ? each.node : []));
  if (others.length > 0 && channel.template?.others.length === 0) return;
  channel.template = { outgoing, node, others, echoes: echoes.map(({ splice }) => splice), removals };
}

/** Builds an event with the held text and nothing else from its template. */
export function buildHeldEvent(
  { outgoing, node, others, echoes, removals }: Template,
  text: string,
): OutgoingEvent {
  const rewritten = [
    buildStringSplice(node, text),
    ...others.map((other) => buildStringSplice(other, '')),
    ...echoes,
  ];
  const places = new Set(rewritten.map(({ start }) => start));
  const kept = outgoing.edits.filter(({ start }) => !places.has(start));
  const edits = dropWithin([...kept, ...rewritten], removals);
  return createOutgoingEvent(outgoing.event, outgoing.name, edits);
}

/** Returns the splices that are not within a removal, and the removals. */
function dropWithin(splices: readonly Splice[], removals: readonly Splice[]): Splice[] {
  if (removals.length === 0) return [...splices];
  const kept: Splice[] = [];
  let removedUntil = 0;
  const removed = new Set(removals);
  for (const each of [...removals, ...splices].sort((a, b) => a.start - b.start)) {
    if (removed.has(each)) removedUntil = each.end;
    else if (each.start < removedUntil) continue;
    kept.push(each);
  }
  return kept;
}

/**
 * Returns whether an event equals the last one of its channel except for the text. Without a text it has no content.
 */
export function differsOnlyInText(template: Template | null, event: SseEvent, node: StringNode): boolean {
  if (template === null) return false;
  const { data } = template.outgoing.event;
  return (
    data.slice(0, template.node.start) === event.data.slice(0, node.start) &&
    data.slice(template.node.end) === event.data.slice(node.end)
  );
}

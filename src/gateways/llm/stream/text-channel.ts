import type { StreamGuard, StreamRelease } from '../../../core/stream/stream.ts';
import type { Splice, StringNode } from '../../../core/types/json.ts';
import type { EventParts, EventPiece, SseEvent } from '../../../core/wire/wire-format.ts';
import { buildStringSplice } from '../texts.ts';
import type { TokenMap, TokenRestorer } from '../token-map.ts';
import { createOutgoingEvent, type OutgoingEvent } from './outgoing-event.ts';

/** One text of a streamed answer: what was said of it, and what of it may go out. */
export interface TextChannel {
  /** Gives what may go out for a piece; `null`: the stream is blocked. */
  readonly push: (text: string) => string | null;
  /** Gives what was held; `null`: the stream is blocked. Once; `''` when called again. */
  readonly end: () => string | null;
  readonly hasEnded: () => boolean;
  /** Whether what went out is by now exactly what came. */
  readonly isWhole: () => boolean;
  /** All that came, and all that went out for it once it has ended. */
  readonly came: () => string;
  readonly shown: () => string;
  /** The last event with a piece of it, to send what is held in. */
  template: Template | null;
}

/** An event that can be sent again with another text in it. */
interface Template {
  /** As it went out: what was changed in it stays changed. */
  readonly outgoing: OutgoingEvent;
  readonly node: StringNode;
  /** The other pieces in it, which are not to be said twice. */
  readonly others: readonly StringNode[];
  /** Takes out what says its text again in another form. */
  readonly echoes: readonly Splice[];
}

/** Opens a text; `guard` is what its pieces go through. */
export function openTextChannel(guard: StreamGuard, tokens: TokenMap | null): TextChannel {
  const restorer: TokenRestorer | null = tokens?.openRestorer() ?? null;
  let verdict: StreamRelease['verdict'] = null;
  let is_stopped = false;
  let is_altered = false;
  let pending = '';
  const letGo = ({ text, decision, verdict: ended }: StreamRelease, is_last: boolean): string | null => {
    verdict ??= ended;
    is_stopped ||= decision === 'block';
    if (is_stopped) return null;
    const shown = restorer === null ? text : restorer.push(text) + (is_last ? restorer.end() : '');
    is_altered ||= !pending.startsWith(shown);
    pending = is_altered ? '' : pending.slice(shown.length);
    return shown;
  };
  return {
    template: null,
    push: (text) => {
      if (!is_altered) pending += text;
      return letGo(guard.push(text), false);
    },
    end: () => {
      if (is_stopped) return null;
      return verdict === null ? letGo(guard.end(), true) : '';
    },
    hasEnded: () => verdict !== null,
    isWhole: () => !is_altered && pending === '',
    came: guard.text,
    shown: () => {
      const judged = verdict?.content?.kind === 'text' ? verdict.content.text : guard.text();
      return tokens === null ? judged : tokens.restore(judged);
    },
  };
}

/** Remembers the event of a piece, rather one in which the piece stands alone. */
export function storeTemplate(
  channel: TextChannel,
  piece: EventPiece,
  outgoing: OutgoingEvent,
  { pieces, echoes }: EventParts,
): void {
  const { node } = piece;
  if (node.kind !== 'string') return;
  const others = pieces.flatMap((each) => (each !== piece && each.node.kind === 'string' ? each.node : []));
  if (others.length > 0 && channel.template?.others.length === 0) return;
  channel.template = { outgoing, node, others, echoes: echoes.map(({ splice }) => splice) };
}

/** An event that brings what was held of a text, and nothing else that the one it is made of brought. */
export function buildHeldEvent({ outgoing, node, others, echoes }: Template, text: string): OutgoingEvent {
  const anew = [
    buildStringSplice(node, text),
    ...others.map((other) => buildStringSplice(other, '')),
    ...echoes,
  ];
  const places = new Set(anew.map(({ start }) => start));
  const kept = outgoing.edits.filter(({ start }) => !places.has(start));
  return createOutgoingEvent(outgoing.event, outgoing.name, [...kept, ...anew]);
}

/** Whether an event says the same as the last one of its channel, but for the text: without a text it says nothing. */
export function differsOnlyInText(template: Template | null, event: SseEvent, node: StringNode): boolean {
  if (template === null) return false;
  const { data } = template.outgoing.event;
  return (
    data.slice(0, template.node.start) === event.data.slice(0, node.start) &&
    data.slice(template.node.end) === event.data.slice(node.end)
  );
}

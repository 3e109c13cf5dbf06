import type { EventParts, EventPiece } from '../../../core/wire/types.ts';
import { written } from '../texts.ts';
import type { Outgoing } from './outgoing.ts';
import { emitBehind, type Guarding } from './state.ts';
import { heldEvent, isSameBesides, keepTemplate, openChannel, type TextChannel } from './text-channel.ts';

/** `hollow`: the event says nothing any more. `blocked`, `broken`: the stream ends before it. */
export type TextsTaken = 'taken' | 'hollow' | 'blocked' | 'broken';

/** Takes the texts of an event: what may go out of them stands in it then, and what was held goes out before it. */
export function takeTexts(state: Guarding, parts: EventParts, outgoing: Outgoing): TextsTaken {
  const here = new Set(parts.pieces.map(({ channel }) => channel));
  for (const name of endingBefore(state, parts, here)) {
    const channel = state.channels.get(name);
    if (channel !== undefined && !endText(state, channel)) return 'blocked';
  }
  let is_hollow = false;
  for (const piece of parts.pieces) {
    if (piece.kind !== 'text') continue;
    const taken = takePiece(state, piece, parts, outgoing);
    if (taken === 'blocked' || taken === 'broken') return taken;
    is_hollow = taken === 'hollow';
  }
  for (const piece of parts.repeats) {
    if (piece.kind === 'text' && !takeAgain(state, piece, outgoing)) return 'blocked';
  }
  for (const { of, splice } of parts.echoes) {
    if (isAltered(state, of)) outgoing.edits.push(splice);
  }
  return is_hollow ? 'hollow' : 'taken';
}

function endingBefore(state: Guarding, parts: EventParts, here: ReadonlySet<string>): readonly string[] {
  const ending = parts.is_last ? [...state.channels.keys()] : parts.closed;
  return ending.filter((name) => !here.has(name));
}

/** Lets what was held of a text go out, behind the last event that brought some of it; `false`: the stream is blocked. */
export function endText(state: Guarding, channel: TextChannel): boolean {
  const rest = channel.end();
  if (rest === null) return false;
  const { template } = channel;
  if (rest !== '' && template !== null) emitBehind(state, template.outgoing, heldEvent(template, rest));
  return true;
}

function takePiece(state: Guarding, piece: EventPiece, parts: EventParts, outgoing: Outgoing): TextsTaken {
  const { node } = piece;
  if (node.kind !== 'string') return 'broken';
  const channel = channelNamed(state, piece.channel);
  if (channel === null) return 'blocked';
  if (channel.hasEnded()) return 'broken';
  let text = channel.push(node.value);
  if (text !== null && (parts.is_last || parts.closed.includes(piece.channel))) {
    const rest = channel.end();
    text = rest === null ? null : text + rest;
  }
  if (text === null) return 'blocked';
  const says_nothing =
    text === '' && saysNothingElse(parts) && isSameBesides(channel.template, outgoing.event, node);
  keepTemplate(channel, piece, outgoing, parts);
  if (text === node.value) return 'taken';
  outgoing.edits.push(written(node, text));
  return says_nothing ? 'hollow' : 'taken';
}

function saysNothingElse({ pieces, closed, repeats, usage, finish_reasons, is_last }: EventParts): boolean {
  const others = pieces.length - 1 + closed.length + repeats.length + finish_reasons.length;
  return others === 0 && usage === null && !is_last;
}

function channelNamed({ channels, texts, answering }: Guarding, name: string): TextChannel | null {
  const known = channels.get(name);
  if (known !== undefined) return known;
  const opened = texts.open();
  if (opened === null) return null;
  const channel = openChannel(opened, answering.tokens);
  channels.set(name, channel);
  return channel;
}

/** A text that is said again goes out as it did before; one that is not the same, or is new, is judged here. */
function takeAgain(state: Guarding, { channel: name, node }: EventPiece, outgoing: Outgoing): boolean {
  if (node.kind !== 'string') return false;
  const channel = state.channels.get(name);
  if (channel !== undefined && !endText(state, channel)) return false;
  const shown = channel?.came() === node.value ? channel.shown() : judgedHere(state, name, node.value);
  if (shown === null) return false;
  if (shown !== node.value) outgoing.edits.push(written(node, shown));
  return true;
}

/** A text that came at once, of which the last of its name is remembered: some come with every event. */
function judgedHere({ wholes, texts, answering }: Guarding, name: string, came: string): string | null {
  const known = wholes.get(name);
  if (known?.came === came) return known.shown;
  const judged = texts.judge(came);
  if (judged === null) return null;
  const shown = answering.tokens?.restored(judged) ?? judged;
  wholes.set(name, { came, shown });
  return shown;
}

/** Whether a text did not go out as it came, or not all of it by now. */
function isAltered({ channels, wholes }: Guarding, name: string): boolean {
  const whole = wholes.get(name);
  return channels.get(name)?.isWhole() === false || (whole !== undefined && whole.came !== whole.shown);
}

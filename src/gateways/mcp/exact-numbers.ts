import { randomUUID } from 'node:crypto';
import type { Transport } from '@modelcontextprotocol/server';
import { parseJsonTree } from '../../core/json/json-tree.ts';
import { getMember, getText } from '../../core/json/nodes.ts';
import type { Json } from '../../core/types/index.ts';

/**
 * The `_meta` key of source texts. The MCP library parses every number as a double and writes the double:
 * `1234567890123456789` becomes `1234567890123456800`, and `1.0` becomes `1`. So the source text of the tool members
 * `arguments` and `structuredContent` travels with the value through the library, and replaces it when the message is
 * written. The key is random per process, so no peer can guess it. It is removed from every written message.
 */
const SOURCE = `service/source-${randomUUID()}`;

/** Matches a number with many digits, a trailing zero in a fraction, an exponent, or a negative zero. */
const MAY_CHANGE = /\d(?:\.?\d){15}|\d\.\d*0(?!\d)|\d[eE][+-]?\d|-0(?![\d.])/;
/** Larger or deeper messages keep doubles. */
const LIMITS = { depth_max: 256, nodes_max: 5_000_000 };

/** Returns a message's text with its source attached if parsing would change numbers in it. */
export function attachSource(text: string): string {
  if (!MAY_CHANGE.test(text)) return text;
  const root = parseJsonTree(text, LIMITS);
  if (root.kind !== 'object') return text;
  const isCall = getText(root, 'method') === 'tools/call';
  const key = isCall ? 'params' : 'result';
  const member = getMember(getMember(root, key), isCall ? 'arguments' : 'structuredContent');
  if (member === null) return text;
  const source = text.slice(member.start, member.end);
  if (!MAY_CHANGE.test(source)) return text;
  const message = JSON.parse(text) as Record<string, Holder>;
  const holder = message[key]!;
  const meta = holder._meta ?? {};
  if (typeof meta !== 'object' || Array.isArray(meta)) return text;
  message[key] = { ...holder, _meta: { ...meta, [SOURCE]: source } };
  return JSON.stringify(message);
}

interface Holder {
  readonly _meta?: Readonly<Record<string, unknown>>;
}

/** Returns the source that came with a message; `null` if its numbers do not change. */
export function readSource(meta: unknown): string | null {
  const source = (meta as Record<string, unknown> | null | undefined)?.[SOURCE];
  return typeof source === 'string' ? source : null;
}

/** Builds the `_meta` for `params` or `result` with which the source is written instead of the value. */
export function buildSourceMeta(source: string | null): {
  readonly _meta?: Readonly<Record<string, string>>;
} {
  return source === null ? {} : { _meta: { [SOURCE]: source } };
}

/** Makes a transport write the source texts that travel with messages. */
export function getWriteSources(transport: Transport): Transport {
  const send = transport.send.bind(transport);
  transport.send = (message, options) => send(writeSource(message), options);
  return transport;
}

function writeSource<Message extends object>(message: Message): Message {
  const { params, result }: { params?: Holder; result?: Holder } = message;
  if (readSource(params?._meta) !== null) return { ...message, params: restoreMember(params!, 'arguments') };
  if (readSource(result?._meta) !== null)
    return { ...message, result: restoreMember(result!, 'structuredContent') };
  return message;
}

function restoreMember(holder: Holder, member: string): Holder {
  const { [SOURCE]: source, ...meta } = holder._meta as Record<string, unknown>;
  const { _meta: _left, ...rest } = holder;
  return {
    ...rest,
    [member]: JSON.parse(source as string, keepDigits),
    ...(Object.keys(meta).length > 0 && { _meta: meta }),
  } as Holder;
}

declare global {
  interface JSON {
    /** Node 24 has it, and a reviver's third argument; the types do not have them yet. */
    readonly rawJSON: (text: string) => object;
  }
}

function keepDigits(
  this: unknown,
  _key: string,
  value: unknown,
  context?: { readonly source?: string },
): unknown {
  const source = context?.source;
  return typeof value === 'number' && source !== undefined && source !== String(value)
    ? JSON.rawJSON(source)
    : value;
}

/** Parses JSON with every number that a double does not hold as the object of its digits. */
export function parseExactly(text: string): Json {
  return JSON.parse(text, ((_key: string, value: unknown, context?: { readonly source?: string }) => {
    const source = context?.source;
    const isLossy = typeof value === 'number' && source !== undefined && losesDigits(source, value);
    return isLossy ? { digits: source } : value;
  }) as (key: string, value: unknown) => unknown) as Json;
}

function losesDigits(source: string, value: number): boolean {
  return source.length > 15 && readSignificantDigits(source) !== readSignificantDigits(String(value));
}

function readSignificantDigits(number: string): string {
  return number
    .replace(/[eE].*$/, '')
    .replace(/[-.]/g, '')
    .replace(/^0+|0+$/g, '');
}

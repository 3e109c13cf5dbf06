import { PACKAGE_NAME } from '../../../core/names.ts';
import {
  type HttpClient,
  HttpFailure,
  type HttpReply,
  openHttpClient,
} from '../../../platform/net/http-client.ts';
import type { AlertChannel, AlertMessage, ChannelEnvironment, DeliveryResult } from '../channel.ts';

/** One POST of JSON. */
export interface AlertPost {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface PostSettings {
  readonly timeout_ms: number;
  readonly allow_link_local?: boolean;
}

/**
 * Opens a channel that sends each message as POST requests, one after the other. A message counts as delivered if each
 * answer has a status from 200 to 299. The bodies of answers are not read.
 */
export function openPostChannel(
  { timeout_ms, allow_link_local }: PostSettings,
  { env, now_ms }: ChannelEnvironment,
  buildPosts: (message: AlertMessage) => readonly AlertPost[],
): AlertChannel {
  const client = openHttpClient({ env, allow_link_local: allow_link_local ?? false });
  return {
    send: async (message, signal) => {
      const deadline = AbortSignal.any([signal, AbortSignal.timeout(timeout_ms)]);
      for (const post of buildPosts(message)) {
        const result = await sendPost(post, client, deadline, now_ms());
        if (!result.sent) return result;
      }
      return { sent: true };
    },
    close: client.close,
  };
}

async function sendPost(
  { url, headers, body }: AlertPost,
  client: HttpClient,
  signal: AbortSignal,
  nowMs: number,
): Promise<DeliveryResult> {
  if (!URL.canParse(url) || !/^https?:/.test(url))
    return {
      sent: false,
      reason: 'Its address cannot be called; it must begin with `https://`.',
      permanent: true,
    };
  try {
    const reply = await client.call({
      method: 'POST',
      url,
      headers: { 'content-type': 'application/json', 'user-agent': PACKAGE_NAME, ...headers },
      body,
      signal,
      response_bytes_max: 0,
    });
    return judgeReply(reply, nowMs);
  } catch (fault) {
    return describeFault(fault);
  }
}

/** Statuses below 500 after which another attempt may succeed: timeout, too early, too many requests. */
const TRANSIENT = [408, 425, 429];

function judgeReply({ status, retry_after }: HttpReply, nowMs: number): DeliveryResult {
  if (status >= 200 && status < 300) return { sent: true };
  if (status >= 500 || TRANSIENT.includes(status)) {
    const retryAfterMs = parseRetryAfter(retry_after, nowMs);
    const reason =
      status === 429 ? 'It takes no more messages now (HTTP 429).' : `It cannot answer now (HTTP ${status}).`;
    return {
      sent: false,
      reason,
      permanent: false,
      ...(retryAfterMs !== null && { retry_after_ms: retryAfterMs }),
    };
  }
  return { sent: false, reason: explainRefusal(status), permanent: true };
}

function explainRefusal(status: number): string {
  if (status === 401 || status === 403)
    return `It refuses the credential (HTTP ${status}). Check the channel's key or address.`;
  if (status === 404 || status === 410)
    return `Its address does not exist any more (HTTP ${status}). Check the channel's address.`;
  if (status >= 300 && status < 400)
    return `It answers with a redirect (HTTP ${status}), which is not followed. Configure the address that it points to.`;
  return `It refuses the message (HTTP ${status}).`;
}

/** The longest pause that a receiver can ask for. */
const RETRY_AFTER_MS_MAX = 3_600_000;

/** Reads both forms of `Retry-After`: seconds, and a date. Returns milliseconds from now, or `null`. */
function parseRetryAfter(header: string | null, nowMs: number): number | null {
  const text = header?.trim() ?? '';
  if (text === '' || text.length > 64) return null;
  const ms = /^\d+(?:\.\d+)?$/.test(text) ? Math.ceil(Number(text) * 1_000) : Date.parse(text) - nowMs;
  return Number.isFinite(ms) ? Math.min(RETRY_AFTER_MS_MAX, Math.max(0, ms)) : null;
}

function describeFault(fault: unknown): DeliveryResult {
  if (!(fault instanceof HttpFailure))
    return { sent: false, reason: 'The message could not be sent.', permanent: false };
  const { kind, code } = fault;
  const named = code === null ? '' : ` (${code})`;
  if (kind === 'link_local') {
    const reason = 'Its address is a link-local one, where clouds keep credentials.';
    return { sent: false, reason, permanent: true };
  }
  const reason = {
    timeout: 'It did not answer in time.',
    certificate: `Its TLS certificate is not valid${named}.`,
    too_long: 'Its answer is too long.',
    unreachable: `It could not be reached${named}.`,
  }[kind];
  return { sent: false, reason, permanent: false };
}

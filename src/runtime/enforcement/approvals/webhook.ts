import { createHmac } from 'node:crypto';
import { request as plainRequest } from 'node:http';
import { request as secureRequest } from 'node:https';
import { buildGuardedLookup, hasMetadataOrLinkLocalHost } from '../../../platform/net/guarded-lookup.ts';

export interface ApprovalWebhook {
  readonly url: string;
  readonly secret: string;
  readonly timeout_ms: number;
  readonly max_attempts: number;
  readonly allow_link_local: boolean;
}

export interface WebhookMessage {
  readonly message_id: string;
  /** JSON. */
  readonly body: string;
  readonly timestamp_s: number;
}

export type WebhookResult = { readonly taken: true } | { readonly taken: false; readonly reason: string };

/**
 * Sends one message with the headers of Standard Webhooks. A status from 200 to 299 means delivered. Redirects
 * are not followed. Never rejects.
 */
export function postWebhook(message: WebhookMessage, webhook: ApprovalWebhook): Promise<WebhookResult> {
  const url = new URL(webhook.url);
  if (!webhook.allow_link_local && hasMetadataOrLinkLocalHost(url))
    return Promise.resolve({ taken: false, reason: LINK_LOCAL });
  return new Promise((resolve) => {
    const send = url.protocol === 'https:' ? secureRequest : plainRequest;
    const outgoing = send(url, {
      method: 'POST',
      agent: false,
      headers: headersOf(message, webhook.secret),
      signal: AbortSignal.timeout(webhook.timeout_ms),
      ...(!webhook.allow_link_local && { lookup: guardedLookup }),
    });
    outgoing.on('response', (response) => {
      const status = response.statusCode ?? 0;
      // The body of the response is not needed.
      response.destroy();
      resolve(
        status >= 200 && status < 300 ? { taken: true } : { taken: false, reason: `It answered ${status}.` },
      );
    });
    outgoing.on('error', (fault) => resolve({ taken: false, reason: reasonOf(fault) }));
    outgoing.end(message.body);
  });
}

function headersOf(
  { message_id, timestamp_s, body }: WebhookMessage,
  secret: string,
): Record<string, string> {
  return {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    'user-agent': 'agent-safety',
    'webhook-id': message_id,
    'webhook-timestamp': String(timestamp_s),
    'webhook-signature': signWebhook({ message_id, timestamp_s, body }, secret),
  };
}

/** Returns `v1,` and the base64 HMAC-SHA-256 over id, timestamp and body, joined by full stops. */
export function signWebhook({ message_id, timestamp_s, body }: WebhookMessage, secret: string): string {
  const encoded = secret.startsWith('whsec_') ? secret.slice('whsec_'.length) : null;
  const key = encoded === null ? Buffer.from(secret, 'utf8') : Buffer.from(encoded, 'base64');
  const hmac = createHmac('sha256', key).update(`${message_id}.${timestamp_s}.${body}`).digest('base64');
  return `v1,${hmac}`;
}

const LINK_LOCAL =
  'Its address is a link-local one, where clouds keep credentials; `approvals.webhook.allow_link_local` allows it.';

const guardedLookup = buildGuardedLookup(() => new LinkLocal());

class LinkLocal extends Error {
  constructor() {
    super(LINK_LOCAL);
    this.name = 'LinkLocal';
  }
}

/** Returns the system's error code, never the configured address, because that may contain a password. */
function reasonOf(fault: Error & { code?: unknown }): string {
  if (fault instanceof LinkLocal) return fault.message;
  if (fault.name === 'TimeoutError' || fault.name === 'AbortError') return 'It did not answer in time.';
  return typeof fault.code === 'string'
    ? `It could not be reached (${fault.code}).`
    : 'It could not be reached.';
}

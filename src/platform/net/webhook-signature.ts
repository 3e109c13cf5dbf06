import { createHmac } from 'node:crypto';

export interface SignedMessage {
  readonly message_id: string;
  /** JSON. */
  readonly body: string;
  readonly timestamp_s: number;
}

/**
 * Returns the signature of Standard Webhooks: `v1,` and the base64 HMAC-SHA-256 over id, timestamp and body, joined by
 * full stops. With `whsec_` before it, the rest of the secret is base64.
 */
export function signWebhook({ message_id, timestamp_s, body }: SignedMessage, secret: string): string {
  const encoded = secret.startsWith('whsec_') ? secret.slice('whsec_'.length) : null;
  const key = encoded === null ? Buffer.from(secret, 'utf8') : Buffer.from(encoded, 'base64');
  const hmac = createHmac('sha256', key).update(`${message_id}.${timestamp_s}.${body}`).digest('base64');
  return `v1,${hmac}`;
}

/** Returns the three headers of Standard Webhooks. */
export function buildWebhookHeaders(message: SignedMessage, secret: string): Record<string, string> {
  return {
    'webhook-id': message.message_id,
    'webhook-timestamp': String(message.timestamp_s),
    'webhook-signature': signWebhook(message, secret),
  };
}

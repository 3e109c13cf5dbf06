// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration's own `${NAME}` is meant.
import type { Static } from 'typebox';
import { buildSection, Type } from '../../core/schema.ts';
import { buildWebhookHeaders } from '../../platform/net/webhook-signature.ts';
import { urlSchema } from '../../platform/schema-parts.ts';
import type { AlertChannel, AlertChannelDriver, AlertMessage, ChannelEnvironment } from './channel.ts';
import { type AlertPost, openPostChannel } from './parts/post.ts';
import { allowLinkLocalSchema, credentialSchema, timeoutSchema } from './parts/settings.ts';

const schema = buildSection(
  {
    url: { ...urlSchema, description: 'Address of the receiver.' },
    secret: Type.Optional({
      ...credentialSchema,
      minLength: 16,
      description: 'Signs each message, as `${NAME}`. With `whsec_` before it, the rest is base64.',
    }),
    timeout_ms: timeoutSchema,
    allow_link_local: allowLinkLocalSchema,
  },
  { description: 'An HTTP POST of the alert.' },
);

export type WebhookSettings = Static<typeof schema>;

/** An HTTP POST of the alert as JSON, signed as Standard Webhooks describes. */
export const webhookChannel = {
  name: 'webhook',
  docs: {
    receiver: 'a service of yours, with a signed POST of JSON',
    ends: 'another POST: `alert.acknowledge` or `alert.resolve`',
  },
  schema,
  address_key: 'url',
  open,
} as const satisfies AlertChannelDriver<WebhookSettings>;

function open(settings: WebhookSettings, environment: ChannelEnvironment): AlertChannel {
  return openPostChannel(settings, environment, (message) => [
    buildPost(message, settings, environment.now_ms()),
  ]);
}

/** The id is the same for all attempts. The timestamp is the attempt's, so that a receiver can refuse old ones. */
function buildPost(message: AlertMessage, { url, secret }: WebhookSettings, nowMs: number): AlertPost {
  const body = JSON.stringify({
    type: `alert.${message.kind}`,
    timestamp: new Date(nowMs).toISOString(),
    data: message,
  });
  const signed = { message_id: message.delivery_id, timestamp_s: Math.floor(nowMs / 1_000), body };
  const id = { 'webhook-id': message.delivery_id, 'webhook-timestamp': String(signed.timestamp_s) };
  return { url, headers: secret === undefined ? id : buildWebhookHeaders(signed, secret), body };
}

// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration's own `${NAME}` is meant.
const credential = { type: 'string', minLength: 1, maxLength: 4096, 'x-credential': true } as const;
const name = { type: 'string', minLength: 1, maxLength: 128 } as const;

const email = {
  type: 'object',
  description: 'Mail.',
  additionalProperties: false,
  required: ['type', 'to', 'smtp_host', 'smtp_port'],
  properties: {
    type: { type: 'string', const: 'email' },
    name: { ...name, description: 'The name of this channel in rules (default: its type).' },
    to: {
      type: 'array',
      minItems: 1,
      maxItems: 100,
      items: {
        type: 'string',
        pattern: '^[^\\s@<>]{1,64}@[^\\s@<>]{1,255}$',
        'x-expects': 'must be a mail address',
      },
      description: 'Recipients of the mail.',
    },
    from: {
      type: 'string',
      pattern: '^[^\\s@<>]{1,64}@[^\\s@<>]{1,255}$',
      'x-expects': 'must be a mail address',
      description: 'Sender.',
    },
    smtp_host: { type: 'string', minLength: 1, maxLength: 253, description: 'Mail server.' },
    smtp_port: { type: 'integer', minimum: 1, maximum: 65_535, description: 'Its port.' },
    username: { type: 'string', minLength: 1, maxLength: 256, description: 'Name at the mail server.' },
    password: { ...credential, description: 'Password at the mail server, as `${NAME}`.' },
  },
} as const;

const paging = {
  type: 'object',
  description: 'Incident paging (events API v2).',
  additionalProperties: false,
  required: ['type', 'routing_key'],
  properties: {
    type: { type: 'string', const: 'paging' },
    name,
    routing_key: { ...credential, description: 'Routing key, as `${NAME}`.' },
  },
} as const;

const incident = {
  type: 'object',
  description: 'Alert management.',
  additionalProperties: false,
  required: ['type', 'api_key', 'region'],
  properties: {
    type: { type: 'string', const: 'incident' },
    name,
    api_key: { ...credential, description: 'Key, as `${NAME}`.' },
    region: {
      type: 'string',
      minLength: 1,
      maxLength: 64,
      description: 'Region of the account, `us` or `eu`.',
    },
  },
} as const;

const file = {
  type: 'object',
  description: 'A file of JSON lines.',
  additionalProperties: false,
  required: ['type', 'path'],
  properties: {
    type: { type: 'string', const: 'file' },
    name,
    path: { type: 'string', minLength: 1, maxLength: 4096, description: 'The file, relative to this one.' },
  },
} as const;

const webhook = {
  type: 'object',
  description: 'An HTTP POST of the alert.',
  additionalProperties: false,
  required: ['type', 'url'],
  properties: {
    type: { type: 'string', const: 'webhook' },
    name,
    url: {
      type: 'string',
      pattern: '^https?://[^\\s/?#]+[^\\s]*$',
      maxLength: 2048,
      'x-expects': 'must be an address that begins with `http://` or `https://`',
      description: 'Where to.',
    },
    secret: { ...credential, description: 'Signs the body, as `${NAME}`.' },
  },
} as const;

const chatWebhook = {
  type: 'object',
  description: 'A message to a chat, by the webhook address that the chat gives out.',
  additionalProperties: false,
  required: ['type', 'url'],
  properties: {
    type: { type: 'string', const: 'chat-webhook' },
    name,
    url: { ...credential, description: 'The address, as `${NAME}`: it works as a credential.' },
  },
} as const;

/** One channel of `alerts.channels`; `type` selects the schema. */
export const alertChannelSchema = { oneOf: [chatWebhook, email, file, incident, paging, webhook] } as const;

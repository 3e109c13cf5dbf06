// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration's own `${NAME}` is meant.
import { alertChannelDrivers } from '../../drivers/alerts/index.ts';

const credential = { type: 'string', minLength: 1, maxLength: 4096, 'x-credential': true } as const;
const name = {
  type: 'string',
  minLength: 1,
  maxLength: 128,
  description: 'The name of this channel in rules. Default: its type.',
} as const;

const email = {
  type: 'object',
  description: 'Mail.',
  additionalProperties: false,
  required: ['type', 'to', 'smtp_host', 'smtp_port'],
  properties: {
    type: { type: 'string', const: 'email' },
    name,
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

type DriverRecord = (typeof alertChannelDrivers)[number];
type ChannelSchema<Driver> = Driver extends DriverRecord
  ? {
      readonly type: 'object';
      readonly description: string;
      readonly additionalProperties: false;
      readonly required: readonly ['type', ...Driver['schema']['required']];
      readonly properties: {
        readonly type: { readonly type: 'string'; readonly const: Driver['name'] };
        readonly name: typeof name;
      } & Driver['schema']['properties'];
    }
  : never;
type ChannelSchemas<Drivers extends readonly unknown[]> = {
  readonly [At in keyof Drivers]: ChannelSchema<Drivers[At]>;
};

const channelSchemas = alertChannelDrivers.map(({ name: type, schema }) => ({
  type: 'object',
  description: schema.description,
  additionalProperties: false,
  required: ['type', ...schema.required],
  properties: { type: { type: 'string', const: type }, name, ...schema.properties },
})) as unknown as ChannelSchemas<typeof alertChannelDrivers>;

/** One channel of `alerts.channels`; `type` selects the schema. */
export const alertChannelSchema = {
  oneOf: [chatWebhook, email, ...channelSchemas, incident, paging, webhook],
} as const;

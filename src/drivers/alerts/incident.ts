// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration's own `${NAME}` is meant.
import type { Static } from 'typebox';
import { buildEnum, buildSection, Type } from '../../core/schema.ts';
import { urlSchema } from '../../platform/schema-parts.ts';
import type { AlertChannel, AlertChannelDriver, AlertMessage, ChannelEnvironment } from './channel.ts';
import { describeAlert, fitKey, listCallFacts, showText } from './parts/describe.ts';
import { type AlertPost, openPostChannel } from './parts/post.ts';
import { credentialSchema, timeoutSchema } from './parts/settings.ts';

const schema = buildSection(
  {
    api_key: { ...credentialSchema, description: 'Key, as `${NAME}`.' },
    region: buildEnum(['us', 'eu'], {
      description: 'Region of the account: `https://api.opsgenie.com` or `https://api.eu.opsgenie.com`.',
    }),
    base_url: Type.Optional({
      ...urlSchema,
      description: 'Address of the service, instead of the one of the region.',
    }),
    timeout_ms: timeoutSchema,
  },
  { description: 'Alert management.' },
);

export type IncidentSettings = Static<typeof schema>;

/** Alert management over the Alert API of Opsgenie. */
export const incidentChannel = {
  name: 'incident',
  docs: {
    receiver: 'Opsgenie, and services that take its Alert API',
    ends: 'acknowledges and closes the alert with the same alias',
  },
  schema,
  address_key: 'base_url',
  open,
} as const satisfies AlertChannelDriver<IncidentSettings>;

const ADDRESSES = { us: 'https://api.opsgenie.com', eu: 'https://api.eu.opsgenie.com' } as const;
const PRIORITIES = { critical: 'P1', high: 'P2', medium: 'P3', low: 'P4' } as const;
const TEST_PRIORITY = 'P5';
const ALIAS_CHARACTERS_MAX = 512;
const MESSAGE_CHARACTERS_MAX = 130;
const TAG_CHARACTERS_MAX = 50;

function open(settings: IncidentSettings, environment: ChannelEnvironment): AlertChannel {
  const base = (settings.base_url ?? ADDRESSES[settings.region]).replace(/\/+$/, '');
  const headers = { authorization: `GenieKey ${settings.api_key}` };
  return openPostChannel(settings, environment, (message) =>
    listCalls(message).map(
      ({ path, body }): AlertPost => ({ url: `${base}${path}`, headers, body: JSON.stringify(body) }),
    ),
  );
}

interface Call {
  readonly path: string;
  readonly body: object;
}

/** A test creates an alert of the lowest priority and closes it at once. */
function listCalls(message: AlertMessage): readonly Call[] {
  const alias = fitKey(message.dedup_key, ALIAS_CHARACTERS_MAX);
  const change = (verb: 'acknowledge' | 'close'): Call => ({
    path: `/v2/alerts/${encodeURIComponent(alias)}/${verb}?identifierType=alias`,
    body: { source: showText(message.source, 100), note: describeAlert(message).summary },
  });
  const create = { path: '/v2/alerts', body: buildAlert(message, alias) };
  return {
    trigger: [create],
    acknowledge: [change('acknowledge')],
    resolve: [change('close')],
    test: [create, change('close')],
  }[message.kind];
}

function buildAlert(message: AlertMessage, alias: string): object {
  const described = describeAlert(message);
  const { title, summary, facts, link } = described;
  const tags = [message.severity, message.rule_id, ...message.tenant_ids].slice(0, 10);
  return {
    message: showText(title, MESSAGE_CHARACTERS_MAX),
    alias,
    description: link === null ? summary : `${summary}\n\n${link.label}: ${link.url}`,
    tags: tags.map((tag) => showText(tag, TAG_CHARACTERS_MAX).replaceAll(',', ' ')),
    details: {
      ...Object.fromEntries([...facts, ...listCallFacts(described)]),
      rule_id: showText(message.rule_id, 128),
      delivery_id: message.delivery_id,
    },
    entity: showText(message.rule_id, 128),
    source: showText(message.source, 100),
    priority: message.kind === 'test' ? TEST_PRIORITY : PRIORITIES[message.severity],
  };
}

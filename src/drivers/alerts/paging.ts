// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration's own `${NAME}` is meant.
import type { Static } from 'typebox';
import { buildSection } from '../../core/schema.ts';
import { urlSchema } from '../../platform/schema-parts.ts';
import type { AlertChannel, AlertChannelDriver, AlertMessage, ChannelEnvironment } from './channel.ts';
import { describeAlert, fitKey, listCallFacts, showText } from './parts/describe.ts';
import { type AlertPost, openPostChannel } from './parts/post.ts';
import { credentialSchema, timeoutSchema } from './parts/settings.ts';

const schema = buildSection(
  {
    routing_key: { ...credentialSchema, description: 'Routing key, as `${NAME}`.' },
    base_url: {
      ...urlSchema,
      default: 'https://events.pagerduty.com',
      description: 'Address of the service; `https://events.eu.pagerduty.com` for accounts in the EU.',
    },
    timeout_ms: timeoutSchema,
  },
  { description: 'Incident paging (events API v2).' },
);

export type PagingSettings = Static<typeof schema>;

/** Incident paging over the Events API v2 of PagerDuty. */
export const pagingChannel = {
  name: 'paging',
  docs: {
    receiver: 'PagerDuty, and services that take its Events API v2',
    ends: 'acknowledges and resolves the incident with the same `dedup_key`',
  },
  schema,
  address_key: 'base_url',
  open,
} as const satisfies AlertChannelDriver<PagingSettings>;

const SEVERITIES = { critical: 'critical', high: 'error', medium: 'warning', low: 'info' } as const;
const DEDUP_KEY_CHARACTERS_MAX = 255;

function open(settings: PagingSettings, environment: ChannelEnvironment): AlertChannel {
  const url = `${settings.base_url.replace(/\/+$/, '')}/v2/enqueue`;
  const post = (event: object): AlertPost => ({
    url,
    body: JSON.stringify({ routing_key: settings.routing_key, ...event }),
  });
  return openPostChannel(settings, environment, (message) => listEvents(message).map(post));
}

/** A test opens an incident of the lowest severity and resolves it at once. */
function listEvents(message: AlertMessage): readonly object[] {
  const dedupKey = fitKey(message.dedup_key, DEDUP_KEY_CHARACTERS_MAX);
  const { kind } = message;
  if (kind === 'trigger') return [buildTrigger(message, dedupKey)];
  if (kind !== 'test') return [{ event_action: kind, dedup_key: dedupKey }];
  return [buildTrigger(message, dedupKey), { event_action: 'resolve', dedup_key: dedupKey }];
}

function buildTrigger(message: AlertMessage, dedupKey: string): object {
  const described = describeAlert(message);
  const { title, summary, facts, link } = described;
  const severity = message.kind === 'test' ? 'info' : SEVERITIES[message.severity];
  return {
    event_action: 'trigger',
    dedup_key: dedupKey,
    client: showText(message.source, 128),
    ...(link !== null && { client_url: link.url, links: [{ href: link.url, text: link.label }] }),
    payload: {
      summary: `${title}. ${summary}`,
      source: showText(message.source, 128),
      severity,
      timestamp: message.last_at,
      component: showText(message.rule_id, 128),
      class: message.approval === null ? 'alert' : 'approval',
      custom_details: {
        ...Object.fromEntries([...facts, ...listCallFacts(described)]),
        delivery_id: message.delivery_id,
      },
    },
  };
}

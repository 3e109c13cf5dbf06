import type { Static } from 'typebox';
import { buildSection, Type } from '../../core/schema.ts';
import type { AlertChannelDriver } from '../../drivers/alerts/channel.ts';
import { alertChannelDrivers } from '../../drivers/alerts/index.ts';
import { isLoopbackHost } from '../../platform/net/loopback.ts';
import { checkWebhookAddress } from '../../runtime/config/address-checks.ts';
import type { ValueProblem } from '../../runtime/config/parse-config-value.ts';
import type { PathStep } from '../../runtime/config/problem-path.ts';
import { type CredentialAddress, defineConfigSection } from '../../runtime/config/sections.ts';
import { ALERT_RULES_MAX, findAlertRuleProblems, listChannelNames } from './rule-problems.ts';
import { alertRuleSchema } from './rule-schema.ts';

type AlertSettings = Static<typeof alertsSchema>;

declare module '../../runtime/config/schema.ts' {
  interface FeatureSections {
    readonly alerts: AlertSettings;
  }
}

const name = Type.String({
  minLength: 1,
  maxLength: 128,
  description: 'The name of this channel in rules. Default: its type.',
});

type Driver = (typeof alertChannelDrivers)[number];
type Channel<Each> = Each extends Driver
  ? { readonly type: Each['name']; readonly name?: string } & Static<Each['schema']>
  : never;

/** One channel of `alerts.channels`; `type` selects the schema. */
const alertChannelSchema = Type.Unsafe<Channel<Driver>>({
  oneOf: alertChannelDrivers.map(({ name: type, schema: { description, properties } }) =>
    buildSection(
      { type: Type.Literal(type, { type: 'string' }), name: Type.Optional(name), ...properties },
      { description },
    ),
  ),
});

const alertsSchema = buildSection(
  {
    rules: Type.Array(alertRuleSchema, {
      maxItems: ALERT_RULES_MAX,
      default: [],
      description: 'Rules. More can be saved over the API and in the console.',
    }),
    channels: Type.Array(alertChannelSchema, { maxItems: 100, default: [], description: 'Channels.' }),
  },
  { description: 'Alert rules, and the channels that receive alerts.', default: {} },
);

function checkAlertChannels({ channels }: AlertSettings): ValueProblem[] {
  const names = channels.map(({ name, type }) => name ?? type);
  return channels.flatMap((channel, i) => {
    const here = ['channels', i];
    const name = names[i]!;
    if (names.indexOf(name) < i) {
      const message = `has the name of another channel, \`${name}\`; set a \`name\` of its own`;
      return [{ steps: channel.name === undefined ? here : [...here, 'name'], message }];
    }
    if (channel.type === 'email') return checkMailLogin(channel, here);
    return channel.type === 'webhook' ? checkWebhookAddress(channel, [...here, 'url']) : [];
  });
}

type MailChannel = Extract<AlertSettings['channels'][number], { readonly type: 'email' }>;

/** Checks the sign-in at a mail server. A password crosses a network only under TLS. */
function checkMailLogin(
  { username, password, tls, smtp_host }: MailChannel,
  here: readonly PathStep[],
): ValueProblem[] {
  if ((username === undefined) !== (password === undefined))
    return [{ steps: here, message: 'must have `username` and `password` together, or neither' }];
  if (password === undefined || tls !== 'none' || isLoopbackHost(smtp_host)) return [];
  const message = 'is `none`, so that the password would cross the network in the clear; use `starttls`';
  return [{ steps: [...here, 'tls'], message }];
}

function checkAlertRules({ rules, channels }: AlertSettings): ValueProblem[] {
  const known = new Set(listChannelNames(channels));
  return rules.flatMap((rule, i) => {
    const here = ['rules', i];
    if (rules.findIndex(({ rule_id }) => rule_id === rule.rule_id) < i)
      return [{ steps: [...here, 'rule_id'], message: 'is the ID of another rule' }];
    return findAlertRuleProblems(rule, known).map(({ steps, message }) => ({
      steps: [...here, ...steps],
      message,
    }));
  });
}

/** Returns the address of each channel that calls one. */
function listChannelAddresses({ channels }: AlertSettings): readonly CredentialAddress[] {
  const drivers: readonly AlertChannelDriver[] = alertChannelDrivers;
  return channels.flatMap((channel, i) => {
    const key = drivers.find(({ name }) => name === channel.type)?.address_key;
    if (key === undefined) return [];
    const address = (channel as Readonly<Record<string, unknown>>)[key];
    const url = typeof address === 'string' ? address : undefined;
    return [[true, url, ['channels', i, key], 'the alerts'] as const];
  });
}

export const alertsSection = defineConfigSection({
  name: 'alerts',
  after: 'secrets',
  schema: alertsSchema,
  is_unused_by_decisions: true,
  findProblems: (settings) => [...checkAlertChannels(settings), ...checkAlertRules(settings)],
  resolvePaths: (settings, absolute) => ({
    ...settings,
    channels: settings.channels.map((channel) =>
      channel.type === 'file' ? { ...channel, path: absolute(channel.path) } : channel,
    ),
  }),
  listAddresses: listChannelAddresses,
});

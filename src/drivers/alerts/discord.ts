import type { ActionPart } from '../../core/decision/shown-action.ts';
import { buildSection } from '../../core/schema.ts';
import type { AlertChannel, AlertChannelDriver, AlertMessage, ChannelEnvironment } from './channel.ts';
import { describeAlert, escapeWithin, showText } from './parts/describe.ts';
import { openPostChannel } from './parts/post.ts';
import { type ChatSettings, chatProperties } from './parts/settings.ts';

/** A message with an embed to a webhook of Discord. */
export const discordChannel = {
  name: 'discord',
  docs: { receiver: 'Discord', ends: 'another message' },
  schema: buildSection(chatProperties, {
    description: 'A message to a Discord channel, by the webhook address that Discord gives out.',
  }),
  address_key: 'url',
  open,
} as const satisfies AlertChannelDriver<ChatSettings>;

const COLORS = { critical: 0xb3261e, high: 0xd9480f, medium: 0xb58900, low: 0x5f6b7a } as const;
const ENDED_COLOR = 0x2b8a3e;

function open(settings: ChatSettings, environment: ChannelEnvironment): AlertChannel {
  return openPostChannel(settings, environment, (message) => [
    { url: settings.url, body: JSON.stringify(buildMessage(message)) },
  ]);
}

function buildMessage(message: AlertMessage): object {
  const { title, summary, facts, call, link } = describeAlert(message);
  const fields = facts.map(([label, value]) => ({
    name: escapeMarkdown(label),
    value: escapeMarkdown(value === '' ? '-' : value),
    inline: true,
  }));
  const linked = link && { name: 'Console', value: `[${link.label}](${encodeTarget(link.url)})` };
  return {
    // No text of a message notifies anyone.
    allowed_mentions: { parse: [] },
    embeds: [
      {
        title: escapeMarkdown(showText(title, 100)),
        description: [escapeMarkdown(summary), ...formatCall(call)].join('\n'),
        color: message.kind === 'resolve' ? ENDED_COLOR : COLORS[message.severity],
        timestamp: message.last_at,
        footer: { text: showText(message.source, 100) },
        fields: [...fields, ...(linked === null ? [] : [linked])],
      },
    ],
  };
}

/** All texts of an embed have at most 6,000 characters. */
const CALL_UNITS_MAX = 1_000;

/** Returns the call with its dangerous parts in bold; nothing if there is none. */
function formatCall(call: readonly ActionPart[]): readonly string[] {
  let room = CALL_UNITS_MAX;
  const parts = call.map(({ text, is_dangerous }) => {
    const escaped = escapeWithin(text, Math.max(room, 1), escapeMarkdown);
    room -= escaped.length;
    return is_dangerous ? `**${escaped}**` : escaped;
  });
  return parts.length === 0 ? [] : [parts.join('')];
}

/** A backslash before a sign removes its meaning: formatting, mentions, emoji and links. */
function escapeMarkdown(text: string): string {
  return text.replace(/[!-/:-@[-`{-~]/g, '\\$&');
}

/** Signs that end the target of a link. */
function encodeTarget(url: string): string {
  return url.replace(/[()<>\s\\]/g, (each) => `%${each.charCodeAt(0).toString(16)}`);
}

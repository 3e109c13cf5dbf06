import { buildSection } from '../../core/schema.ts';
import type { AlertChannel, AlertChannelDriver, AlertMessage, ChannelEnvironment } from './channel.ts';
import { describeAlert, escapeWithin, listCallFacts } from './parts/describe.ts';
import { openPostChannel } from './parts/post.ts';
import { type ChatSettings, chatProperties } from './parts/settings.ts';

/** A message with blocks to a chat that takes the incoming webhooks of Slack. */
export const chatWebhookChannel = {
  name: 'chat-webhook',
  docs: {
    receiver: 'Slack, and chats that take its incoming webhooks (Mattermost and Rocket.Chat show the text)',
    ends: 'another message',
  },
  schema: buildSection(chatProperties, {
    description: 'A message to a chat, by the webhook address that the chat gives out.',
  }),
  address_key: 'url',
  open,
} as const satisfies AlertChannelDriver<ChatSettings>;

const SECTION_FIELDS_MAX = 10;
const HEADER_UNITS_MAX = 150;
const SECTION_UNITS_MAX = 3_000;
/** Four lines, the address and the ends of lines are at most 4,000. */
const LINE_UNITS_MAX = 1_200;

function open(settings: ChatSettings, environment: ChannelEnvironment): AlertChannel {
  return openPostChannel(settings, environment, (message) => [
    { url: settings.url, body: JSON.stringify(buildMessage(message)) },
  ]);
}

function buildMessage(message: AlertMessage): object {
  const described = describeAlert(message);
  const { title, summary, facts, link } = described;
  const call = listCallFacts(described).map(([label, value]) => `${label}: ${value}`);
  const fields = facts.map(([label, value]) =>
    buildMarkdownText(`*${escapeMarkup(label)}*\n${formatCodeSpan(value)}`),
  );
  const sections = [];
  for (let at = 0; at < fields.length; at += SECTION_FIELDS_MAX)
    sections.push({ type: 'section', fields: fields.slice(at, at + SECTION_FIELDS_MAX) });
  const button = link && {
    type: 'actions',
    elements: [{ type: 'button', text: buildPlainText(link.label), url: link.url, action_id: 'open' }],
  };
  return {
    // Notifications show this text, and chats without blocks show nothing else.
    text: [`${title}. ${summary}`, ...call, ...(link === null ? [] : [`${link.label}: `])]
      .map((text) => escapeWithin(text, LINE_UNITS_MAX, escapeFormats))
      .join('\n')
      .concat(link === null ? '' : escapeMarkup(link.url)),
    unfurl_links: false,
    unfurl_media: false,
    blocks: [
      { type: 'header', text: buildPlainText(title, HEADER_UNITS_MAX) },
      { type: 'section', text: buildPlainText(summary) },
      ...call.map((text) => ({ type: 'section', text: buildPlainText(text) })),
      ...sections,
      ...(button === null ? [] : [button]),
    ],
  };
}

/** Text in which only the three characters of the markup have a meaning. */
function buildPlainText(text: string, unitsMax = SECTION_UNITS_MAX): object {
  return { type: 'plain_text', text: escapeWithin(text, unitsMax, escapeMarkup), emoji: false };
}

/** Text with markup. `verbatim` keeps names of channels and people, and addresses, from becoming links. */
function buildMarkdownText(text: string): object {
  return { type: 'mrkdwn', text, verbatim: true };
}

/** Without `<`, a text has no `<!channel>`, no `<@person>` and no link. */
function escapeMarkup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Chats without blocks also read a bare `@channel`, and format text between signs: a word joiner is put behind them. */
function escapeFormats(text: string): string {
  return escapeMarkup(text).replace(/[@#*_~`[\]!]/g, '$&\u2060');
}

/** In a code span nothing is formatted. A backtick would end it. */
function formatCodeSpan(text: string): string {
  return `\`${escapeMarkup(text.replaceAll('`', "'"))}\``;
}

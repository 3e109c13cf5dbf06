import type { ActionPart } from '../../core/decision/shown-action.ts';
import { buildSection } from '../../core/schema.ts';
import type { AlertChannel, AlertChannelDriver, AlertMessage, ChannelEnvironment } from './channel.ts';
import { describeAlert } from './parts/describe.ts';
import { openPostChannel } from './parts/post.ts';
import { type ChatSettings, chatProperties } from './parts/settings.ts';

/** An adaptive card to a webhook of a Microsoft Teams workflow. */
export const teamsChannel = {
  name: 'teams',
  docs: { receiver: 'Microsoft Teams, by a workflow with a webhook trigger', ends: 'another card' },
  schema: buildSection(chatProperties, {
    description: 'An adaptive card to Microsoft Teams, by the webhook address of a workflow.',
  }),
  address_key: 'url',
  open,
} as const satisfies AlertChannelDriver<ChatSettings>;

const COLORS = { critical: 'Attention', high: 'Attention', medium: 'Warning', low: 'Default' } as const;

function open(settings: ChatSettings, environment: ChannelEnvironment): AlertChannel {
  return openPostChannel(settings, environment, (message) => [
    { url: settings.url, body: JSON.stringify(buildMessage(message)) },
  ]);
}

function buildMessage(message: AlertMessage): object {
  const { title, summary, facts, call, link } = describeAlert(message);
  const color = message.kind === 'resolve' ? 'Good' : COLORS[message.severity];
  return {
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        contentUrl: null,
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.4',
          msteams: { width: 'Full' },
          body: [
            buildTextBlock([buildTextRun(title, { weight: 'Bolder', size: 'Large', color })]),
            buildTextBlock([buildTextRun(summary)]),
            ...(call.length === 0 ? [] : [buildTextBlock(call.map(buildCallRun))]),
            ...facts.map(([label, value]) =>
              buildTextBlock(
                [buildTextRun(`${label}: `, { weight: 'Bolder' }), buildTextRun(value)],
                'Small',
              ),
            ),
          ],
          ...(link !== null && {
            actions: [{ type: 'Action.OpenUrl', title: link.label, url: link.url }],
          }),
        },
      },
    ],
  };
}

/** A block without Markdown: unlike those of a `TextBlock`, its texts are shown as they are. */
function buildTextBlock(inlines: readonly object[], spacing?: 'Small'): object {
  return { type: 'RichTextBlock', inlines, ...(spacing !== undefined && { spacing }) };
}

function buildCallRun({ text, is_dangerous }: ActionPart): object {
  return buildTextRun(text, is_dangerous ? { weight: 'Bolder', color: 'Attention' } : {});
}

function buildTextRun(text: string, style: Readonly<Record<string, string>> = {}): object {
  return { type: 'TextRun', text, ...style };
}

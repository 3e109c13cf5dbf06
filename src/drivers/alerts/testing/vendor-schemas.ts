/**
 * The formats of the receivers as JSON Schema, written from their documentation. Unknown keys are refused, so that a
 * misspelt one is found.
 */

const object = (properties: object, required: readonly string[] = Object.keys(properties)) => ({
  type: 'object',
  additionalProperties: false,
  required,
  properties,
});
const text = (maxLength: number) => ({ type: 'string', minLength: 1, maxLength });
const link = { type: 'string', pattern: '^https?://', maxLength: 3000 };
const texts = { type: 'object', additionalProperties: { type: 'string' } };

/**
 * Events API v2: https://developer.pagerduty.com/docs/send-alert-event, with a routing key of 32 characters, a summary
 * of at most 1024 and a dedup key of at most 255.
 */
export const pagingSchema = {
  oneOf: [
    object(
      {
        routing_key: { type: 'string', minLength: 32, maxLength: 32 },
        event_action: { const: 'trigger' },
        dedup_key: text(255),
        client: text(1024),
        client_url: link,
        links: { type: 'array', items: object({ href: link, text: text(1024) }) },
        payload: object({
          summary: text(1024),
          source: text(1024),
          severity: { enum: ['critical', 'error', 'warning', 'info'] },
          timestamp: { type: 'string', pattern: '^\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z$' },
          component: text(1024),
          class: text(1024),
          custom_details: texts,
        }),
      },
      ['routing_key', 'event_action', 'dedup_key', 'payload'],
    ),
    object({
      routing_key: { type: 'string', minLength: 32, maxLength: 32 },
      event_action: { enum: ['acknowledge', 'resolve'] },
      dedup_key: text(255),
    }),
  ],
};

/** Alert API: https://docs.opsgenie.com/docs/alert-api, the fields of "Create Alert" and their limits. */
export const incidentCreateSchema = object({
  message: text(130),
  alias: text(512),
  description: text(15_000),
  tags: { type: 'array', maxItems: 20, items: { type: 'string', maxLength: 50, pattern: '^[^,]*$' } },
  details: texts,
  entity: text(512),
  source: text(100),
  priority: { enum: ['P1', 'P2', 'P3', 'P4', 'P5'] },
});

/** The body of "Acknowledge Alert" and "Close Alert" there. */
export const incidentChangeSchema = object({ source: text(100), note: text(25_000) });

const plainText = (max: number) =>
  object({ type: { const: 'plain_text' }, text: text(max), emoji: { type: 'boolean' } });
const slackText = (max: number) =>
  object({ type: { const: 'mrkdwn' }, text: text(max), verbatim: { const: true } });

/** Incoming webhooks and blocks of Slack: https://docs.slack.dev/reference/block-kit/blocks, with their limits. */
export const chatSchema = object({
  text: text(4000),
  unfurl_links: { type: 'boolean' },
  unfurl_media: { type: 'boolean' },
  blocks: {
    type: 'array',
    maxItems: 50,
    items: {
      oneOf: [
        object({ type: { const: 'header' }, text: plainText(150) }),
        object({ type: { const: 'section' }, text: plainText(3000) }),
        object({
          type: { const: 'section' },
          fields: { type: 'array', minItems: 1, maxItems: 10, items: slackText(2000) },
        }),
        object({
          type: { const: 'actions' },
          elements: {
            type: 'array',
            maxItems: 25,
            items: object({
              type: { const: 'button' },
              text: plainText(75),
              url: link,
              action_id: text(255),
            }),
          },
        }),
      ],
    },
  },
});

/**
 * Execute Webhook and embeds of Discord: https://docs.discord.com/developers/resources/webhook#execute-webhook. The sum
 * of all texts, at most 6000 characters, is checked by the test.
 */
export const discordSchema = object({
  allowed_mentions: object({ parse: { type: 'array', maxItems: 0 } }),
  embeds: {
    type: 'array',
    minItems: 1,
    maxItems: 10,
    items: object({
      title: text(256),
      description: text(4096),
      color: { type: 'integer', minimum: 0, maximum: 0xffffff },
      timestamp: { type: 'string', pattern: '^\\d{4}-' },
      footer: object({ text: text(2048) }),
      fields: {
        type: 'array',
        maxItems: 25,
        items: object({ name: text(256), value: text(1024), inline: { type: 'boolean' } }, ['name', 'value']),
      },
    }),
  },
});

const textRun = object(
  {
    type: { const: 'TextRun' },
    text: { type: 'string' },
    weight: { enum: ['Default', 'Lighter', 'Bolder'] },
    size: { enum: ['Default', 'Small', 'Medium', 'Large', 'ExtraLarge'] },
    color: { enum: ['Default', 'Dark', 'Light', 'Accent', 'Good', 'Warning', 'Attention'] },
  },
  ['type', 'text'],
);

/**
 * A message with an adaptive card, as Teams workflows take it:
 * https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using and
 * https://adaptivecards.io/explorer/. The size of the message, at most 28 KB, is checked by the test.
 */
export const teamsSchema = object({
  type: { const: 'message' },
  attachments: {
    type: 'array',
    minItems: 1,
    maxItems: 1,
    items: object({
      contentType: { const: 'application/vnd.microsoft.card.adaptive' },
      contentUrl: { type: 'null' },
      content: object(
        {
          $schema: { const: 'http://adaptivecards.io/schemas/adaptive-card.json' },
          type: { const: 'AdaptiveCard' },
          version: { const: '1.4' },
          msteams: object({ width: { const: 'Full' } }),
          body: {
            type: 'array',
            items: object(
              {
                type: { const: 'RichTextBlock' },
                inlines: { type: 'array', minItems: 1, items: textRun },
                spacing: { enum: ['None', 'Small', 'Default'] },
              },
              ['type', 'inlines'],
            ),
          },
          actions: {
            type: 'array',
            items: object({ type: { const: 'Action.OpenUrl' }, title: text(200), url: link }),
          },
        },
        ['$schema', 'type', 'version', 'msteams', 'body'],
      ),
    }),
  },
});

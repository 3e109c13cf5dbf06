import type { Detector } from '../../matching/detector.ts';
import { isUnmasked } from '../../matching/placeholders.ts';
import { DIGIT_ALPHABET, HEX_ALPHABET, sampleBody } from '../../matching/sample-text.ts';

export const slack: readonly Detector[] = [
  {
    id: 'slack.token',
    detector: 'api_key',
    tags: ['secret.credential.api_key.slack'],
    severity: 'critical',
    strength: 'proof',
    description:
      'Slack tokens: bot, user, app, session, configuration and legacy kinds (`xoxb-`, `xoxp-`, `xapp-` ...).',
    anchors: ['\\bxox[a-eoprs][-.]', '\\bxapp-'],
    pattern:
      /(?:xox[a-eoprs](?:\.xox[bp])?-(?:(?!xox[a-z]-)[A-Za-z0-9%/+=_-]){14,300}|xapp-\d-[A-Za-z0-9]{8,16}-\d{8,16}-[A-Za-z0-9]{32,80})/,
    validate: (value) => value.replace(/\D/g, '').length >= 4 && isUnmasked(value),
    examples: {
      hits: [
        `«${'xoxb'}-${sampleBody(12, DIGIT_ALPHABET)}-${sampleBody(12, DIGIT_ALPHABET)}-${sampleBody(24)}»`,
        `«${'xapp'}-1-A${sampleBody(10)}-${sampleBody(13, DIGIT_ALPHABET)}-${sampleBody(64, HEX_ALPHABET)}»`,
      ],
      misses: ['xoxb-token', 'xoxo-hugs-and-kisses'],
    },
  },
  {
    id: 'slack.webhook',
    detector: 'webhook_url',
    tags: ['secret.credential.webhook_url.slack'],
    severity: 'critical',
    strength: 'proof',
    description: 'Slack webhook and workflow addresses: an address is enough to post.',
    anchors: ['hooks\\.slack\\.com/'],
    pattern: /hooks\.slack\.com\/(?:services|workflows|triggers)\/[A-Za-z0-9+/]{20,120}/,
    validate: isUnmasked,
    examples: {
      hits: [`https://«hooks.slack.com/${'services'}/T${sampleBody(9)}/B${sampleBody(9)}/${sampleBody(24)}»`],
      misses: ['https://hooks.slack.com/services/docs'],
    },
  },
];

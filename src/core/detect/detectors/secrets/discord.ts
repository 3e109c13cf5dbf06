import type { Detector } from '../../matching/detector.ts';
import { isUnmasked } from '../../matching/placeholders.ts';
import { DIGIT_ALPHABET, sampleBody } from '../../matching/sample-text.ts';

export const discord: readonly Detector[] = [
  {
    id: 'discord.bot_token',
    detector: 'api_key',
    tags: ['secret.credential.api_key.discord'],
    severity: 'critical',
    strength: 'proof',
    description:
      'Discord bot tokens: a user id in base64 (it begins with M, N or O), a time stamp and a signature, with dots between.',
    anchors: ['\\b[MNO][DTjz][AEIMQUYcgk]'],
    pattern: /[MNO][DTjz][AEIMQUYcgk][A-Za-z\d]{15,25}\.[\w-]{6}\.[\w-]{27,40}(?![\w-])/,
    validate: isUnmasked,
    examples: {
      hits: [`«${'MTI'}${sampleBody(21)}.${sampleBody(6)}.${sampleBody(38)}» end`],
      misses: [`M${sampleBody(10)}.${sampleBody(6)}.${sampleBody(27)}`],
    },
  },
  {
    id: 'discord.webhook',
    detector: 'webhook_url',
    tags: ['secret.credential.webhook_url.discord'],
    severity: 'critical',
    strength: 'proof',
    description: 'Discord webhook addresses: an address is enough to post.',
    anchors: ['https://discord', 'https://ptb\\.discord', 'https://canary\\.discord'],
    pattern:
      /https:\/\/(?:ptb\.|canary\.)?discord(?:app)?\.com\/api\/(?:v\d{1,2}\/)?webhooks\/\d{15,21}\/[\w-]{40,90}/,
    validate: isUnmasked,
    examples: {
      hits: [`«https://discord.com/${'api'}/webhooks/${sampleBody(18, DIGIT_ALPHABET)}/${sampleBody(68)}»`],
      misses: ['https://discord.com/api/webhooks/docs'],
    },
  },
];

import type { Detector } from '../../matching/detector.ts';
import { isUnmasked } from '../../matching/placeholders.ts';
import { HEX_ALPHABET, sampleBody } from '../../matching/sample-text.ts';

export const mailgun: readonly Detector[] = [
  {
    id: 'mailgun.api_key',
    detector: 'api_key',
    tags: ['secret.credential.api_key.mailgun'],
    severity: 'critical',
    strength: 'proof',
    description: 'Mailgun private API keys, older form: `key-` and 32 hex digits.',
    anchors: ['\\bkey-[a-f0-9]'],
    pattern: /key-[a-f0-9]{32}(?![A-Za-z0-9-])/,
    validate: isUnmasked,
    examples: {
      hits: [`«${'key'}-${sampleBody(32, HEX_ALPHABET)}»`],
      misses: ['key-value', 'key-feedbacks'],
    },
  },
  {
    id: 'mailgun.sending_key',
    detector: 'api_key',
    tags: ['secret.credential.api_key.mailgun'],
    severity: 'critical',
    strength: 'shape',
    description: 'Mailgun API keys, newer form: 32, 8 and 8 hex digits with dashes between.',
    anchors: ['\\b[a-f0-9]{17}'],
    pattern: /[a-f0-9]{32}-[a-f0-9]{8}-[a-f0-9]{8}(?![A-Za-z0-9-])/,
    validate: isUnmasked,
    examples: {
      hits: [
        `«${sampleBody(32, HEX_ALPHABET)}-${sampleBody(8, HEX_ALPHABET)}-${sampleBody(8, HEX_ALPHABET)}»`,
      ],
      misses: [
        `${sampleBody(8, HEX_ALPHABET)}-${sampleBody(4, HEX_ALPHABET)}-${sampleBody(4, HEX_ALPHABET)}-${sampleBody(4, HEX_ALPHABET)}-${sampleBody(12, HEX_ALPHABET)}`,
      ],
    },
  },
];

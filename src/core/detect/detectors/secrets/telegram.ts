import type { Detector } from '../../matching/detector.ts';
import { isUnmasked } from '../../matching/placeholders.ts';
import { DIGIT_ALPHABET, sampleBody } from '../../matching/sample-text.ts';

export const telegram: readonly Detector[] = [
  {
    id: 'telegram.bot_token',
    detector: 'api_key',
    tags: ['secret.credential.api_key.telegram'],
    severity: 'critical',
    strength: 'proof',
    description: "Telegram bot tokens: the bot's number, a colon, and 35 characters that begin with `AA`.",
    anchors: ['\\d:A[\\w-]'],
    back: { over: '\\d', units_max: 9 },
    pattern: /\d{8,10}:A[\w-]{34}(?![\w-])/,
    validate: (value) => /\d/.test(value.slice(11)) && isUnmasked(value),
    examples: {
      hits: [
        `https://api.telegram.org/bot«${sampleBody(10, DIGIT_ALPHABET)}:${'AA'}${sampleBody(33)}»/getMe`,
        `token «${sampleBody(10, DIGIT_ALPHABET)}:${'AA'}${sampleBody(33)}»`,
      ],
      misses: ['12345678:AM'],
    },
  },
];

import type { Detector } from '../../matching/detector.ts';
import { isUnmasked } from '../../matching/placeholders.ts';
import { HEX_ALPHABET, sampleBody } from '../../matching/sample-text.ts';

export const twilio: readonly Detector[] = [
  {
    id: 'twilio.api_key',
    detector: 'api_key',
    tags: ['secret.credential.api_key.twilio'],
    severity: 'critical',
    strength: 'proof',
    description: 'Twilio API key ids: `SK` and 32 hex digits.',
    anchors: ['\\bSK[A-Fa-f0-9]{2}'],
    pattern: /SK[A-Fa-f0-9]{32}(?![A-Za-z0-9])/,
    validate: isUnmasked,
    examples: {
      hits: [
        `«${'SK'}${sampleBody(32, HEX_ALPHABET)}»`,
        `«${'SK'}${sampleBody(32, HEX_ALPHABET).toUpperCase()}»`,
      ],
      misses: [`SK${sampleBody(20, HEX_ALPHABET)}`],
    },
  },
  {
    id: 'twilio.auth_token',
    detector: 'api_key',
    tags: ['secret.credential.api_key.twilio'],
    severity: 'critical',
    strength: 'shape',
    description: 'Twilio auth tokens: 32 hex digits next to the name.',
    anchors: ['(?i)twilio'],
    pattern:
      /twilio[\w .-]{0,25}\\?["'`]?\s{0,3}(?:=>|[:.?]{0,3}=|[:>])\s{0,3}\\?["'`]?(?<value>[a-f0-9]{32})(?![A-Za-z0-9])/i,
    try_work: 32,
    validate: isUnmasked,
    examples: {
      hits: [`TWILIO_AUTH_TOKEN=«${sampleBody(32, HEX_ALPHABET)}»`],
      misses: [`TWILIO_AUTH_TOKEN=\${TOKEN}`],
    },
  },
];

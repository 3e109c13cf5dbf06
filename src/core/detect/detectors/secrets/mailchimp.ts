import type { Detector } from '../../matching/detector.ts';
import { isUnmasked } from '../../matching/placeholders.ts';
import { HEX_ALPHABET, sampleBody } from '../../matching/sample-text.ts';

export const mailchimp: readonly Detector[] = [
  {
    id: 'mailchimp.api_key',
    detector: 'api_key',
    tags: ['secret.credential.api_key.mailchimp'],
    severity: 'critical',
    strength: 'proof',
    description: 'Mailchimp keys: 32 hex digits and the data centre, `-us` and a number.',
    anchors: ['[a-f0-9]{4}-us\\d'],
    back: { over: '[a-f0-9]', units_max: 28 },
    pattern: /[a-f0-9]{32}-us\d{1,2}(?![A-Za-z0-9-])/,
    validate: isUnmasked,
    examples: {
      hits: [`MAILCHIMP_KEY=«${sampleBody(32, HEX_ALPHABET)}-us17»`],
      misses: [`node-${sampleBody(12, HEX_ALPHABET)}-us1`, `${sampleBody(32, HEX_ALPHABET)}-usage`],
    },
  },
];

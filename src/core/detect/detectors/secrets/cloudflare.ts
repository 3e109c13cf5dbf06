import type { Detector } from '../../matching/detector.ts';
import { isUnmasked } from '../../matching/placeholders.ts';
import { HEX_ALPHABET, sampleBody } from '../../matching/sample-text.ts';

export const cloudflare: readonly Detector[] = [
  {
    id: 'cloudflare.origin_ca_key',
    detector: 'api_key',
    tags: ['secret.credential.api_key.cloudflare'],
    severity: 'critical',
    strength: 'proof',
    description: 'Cloudflare origin CA keys: `v1.0-` and two runs of hex digits.',
    anchors: ['\\bv1\\.0-'],
    pattern: /v1\.0-[a-f0-9]{24,64}-[a-f0-9]{100,200}(?![a-f0-9])/,
    validate: isUnmasked,
    examples: {
      hits: [`«v1.0-${sampleBody(24, HEX_ALPHABET)}-${sampleBody(146, HEX_ALPHABET)}»`],
      misses: ['release v1.0-beef1234'],
    },
  },
  {
    id: 'cloudflare.api_token',
    detector: 'api_key',
    tags: ['secret.credential.api_key.cloudflare'],
    severity: 'critical',
    strength: 'shape',
    description:
      'Cloudflare API tokens and global keys next to their name: 40 base64url characters or 37 hex digits.',
    anchors: ['(?i)cloudflare', '(?i)(?<![A-Za-z])cf_'],
    pattern:
      /(?:cloudflare|cf_)[\w .-]{0,25}\\?["'`]?\s{0,3}(?:=>|[:.?]{0,3}=|[:>])\s{0,11}\\?["'`]?(?<value>[A-Za-z0-9_-]{40}|[a-f0-9]{37})(?![A-Za-z0-9_-])/i,
    try_work: 56,
    validate: hasDigitAndLetter,
    examples: {
      hits: [
        `CLOUDFLARE_API_TOKEN=«${sampleBody(40)}»`,
        `cloudflare_api_key: "«${sampleBody(37, HEX_ALPHABET)}»"`,
      ],
      misses: [`CLOUDFLARE_ZONE=${sampleBody(32, HEX_ALPHABET)}`],
    },
  },
];

function hasDigitAndLetter(value: string): boolean {
  return /\d/.test(value) && /[a-z]/i.test(value);
}

import type { Detector } from '../../matching/detector.ts';
import { isUnmasked } from '../../matching/placeholders.ts';
import { body, HEX } from '../../matching/sample-text.ts';

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
      hits: [`«v1.0-${body(24, HEX)}-${body(146, HEX)}»`],
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
      hits: [`CLOUDFLARE_API_TOKEN=«${body(40)}»`, `cloudflare_api_key: "«${body(37, HEX)}»"`],
      misses: [`CLOUDFLARE_ZONE=${body(32, HEX)}`],
    },
  },
];

function hasDigitAndLetter(value: string): boolean {
  return /\d/.test(value) && /[a-z]/i.test(value);
}

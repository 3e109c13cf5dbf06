import type { Detector } from '../../matching/detector.ts';
import { isUnmasked } from '../../matching/placeholders.ts';
import { HEX_ALPHABET, sampleBody } from '../../matching/sample-text.ts';

export const digitalocean: readonly Detector[] = [
  {
    id: 'digitalocean.token',
    detector: 'api_key',
    tags: ['secret.credential.api_key.digitalocean'],
    severity: 'critical',
    strength: 'proof',
    description:
      'DigitalOcean personal (`dop_v1_`), OAuth (`doo_v1_`) and refresh tokens (`dor_v1_`): 64 hex digits.',
    anchors: ['\\bdo[opr]_v1_'],
    pattern: /do[opr]_v1_[a-f0-9]{64}(?![A-Za-z0-9])/,
    validate: isUnmasked,
    examples: {
      hits: [`«${'dop'}_v1_${sampleBody(64, HEX_ALPHABET)}»`],
      misses: [`${'dop'}_v1_${sampleBody(20, HEX_ALPHABET)}`],
    },
  },
];

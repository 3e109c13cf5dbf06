import type { Detector } from '../../matching/detector.ts';
import { isUnmasked } from '../../matching/placeholders.ts';
import { HEX_ALPHABET, sampleBody } from '../../matching/sample-text.ts';

export const shopify: readonly Detector[] = [
  {
    id: 'shopify.token',
    detector: 'api_key',
    tags: ['secret.credential.api_key.shopify'],
    severity: 'critical',
    strength: 'proof',
    description:
      'Shopify access tokens and shared secrets: `shpat_`, `shpca_`, `shppa_`, `shpss_`, `shpua_` and 32 hex digits.',
    anchors: ['\\bshp[acpsu]'],
    pattern: /shp(?:at|ca|pa|ss|ua)_[a-fA-F0-9]{32}(?![A-Za-z0-9])/,
    validate: isUnmasked,
    examples: {
      hits: [`«${'shpat'}_${sampleBody(32, HEX_ALPHABET)}»`],
      misses: ['shpat_docs'],
    },
  },
];

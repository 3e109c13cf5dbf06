import type { Detector } from '../../matching/detector.ts';
import { isUnmasked } from '../../matching/placeholders.ts';
import { sampleBody } from '../../matching/sample-text.ts';

export const maxmind: readonly Detector[] = [
  {
    id: 'maxmind.license_key',
    detector: 'api_key',
    tags: ['secret.credential.api_key.maxmind'],
    severity: 'critical',
    strength: 'proof',
    description: 'MaxMind licence keys: 6 and 29 characters with `_` between, and the end `_mmk`.',
    anchors: ['\\w_mmk'],
    back: { over: '\\w', units_max: 35 },
    pattern: /[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk(?!\w)/,
    validate: isUnmasked,
    examples: {
      hits: [`license: "«${sampleBody(6)}_${sampleBody(29)}_mmk»"`],
      misses: ['the_suffix_mmk', `${sampleBody(6)}_${sampleBody(12)}_mmk`],
    },
  },
];

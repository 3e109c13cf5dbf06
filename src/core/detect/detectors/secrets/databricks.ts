import type { Detector } from '../../matching/detector.ts';
import { isUnmasked } from '../../matching/placeholders.ts';
import { HEX_ALPHABET, sampleBody } from '../../matching/sample-text.ts';

export const databricks: readonly Detector[] = [
  {
    id: 'databricks.token',
    detector: 'api_key',
    tags: ['secret.credential.api_key.databricks'],
    severity: 'critical',
    strength: 'proof',
    description: 'Databricks personal access tokens: `dapi` and 32 hex digits, maybe with a number behind.',
    anchors: ['\\bdapi[a-h0-9]'],
    pattern: /dapi[a-h0-9]{32}(?:-\d)?(?![A-Za-z0-9])/,
    validate: isUnmasked,
    examples: {
      hits: [`token = «${'dapi'}${sampleBody(32, HEX_ALPHABET)}-2»`],
      misses: [`${'dapi'}${sampleBody(12, HEX_ALPHABET)}`],
    },
  },
];

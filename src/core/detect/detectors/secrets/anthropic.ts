import type { Detector } from '../../matching/detector.ts';
import { isUnmasked } from '../../matching/placeholders.ts';
import { sampleBody } from '../../matching/sample-text.ts';

export const anthropic: readonly Detector[] = [
  {
    id: 'anthropic.api_key',
    detector: 'api_key',
    tags: ['secret.credential.api_key.anthropic'],
    severity: 'critical',
    strength: 'proof',
    description:
      'Anthropic keys and OAuth tokens: `sk-ant-`, a kind with two digits, then a long base64url body.',
    anchors: ['\\bsk-ant-'],
    pattern: /sk-ant-[a-z]{2,12}\d{2,3}-[\w-]{20,200}/,
    validate: isUnmasked,
    examples: {
      hits: [
        `ANTHROPIC_API_KEY=«sk-ant-${'api03'}-${sampleBody(93)}AA»`,
        `«sk-ant-${'admin01'}-${sampleBody(93)}AA».`,
      ],
      misses: ['sk-ant-api03-...', `the prefix sk-ant-api03-${sampleBody(6)} is too short`],
    },
  },
];

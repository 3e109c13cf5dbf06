import type { Detector } from '../../matching/detector.ts';
import { isUnmasked } from '../../matching/placeholders.ts';
import { sampleBody } from '../../matching/sample-text.ts';

export const square: readonly Detector[] = [
  {
    id: 'square.token',
    detector: 'api_key',
    tags: ['secret.credential.api_key.square'],
    severity: 'critical',
    strength: 'proof',
    description: 'Square access tokens and secrets: `sq0atp-`, `sq0csp-`, or `EAAA` and 60 characters.',
    anchors: ['\\bsq0[ac]', '\\bEAAA'],
    pattern: /(?:sq0(?:atp|csp)-[\w-]{22,60}|EAAA[\w+=-]{44,64}(?![\w-]))/,
    validate: isUnmasked,
    examples: {
      hits: [`«${'sq0atp'}-${sampleBody(22)}»`, `«${'EAAA'}${sampleBody(60)}»`],
      misses: ['sq0idp-client', 'EAAA short'],
    },
  },
];

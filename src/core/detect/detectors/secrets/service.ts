import type { Detector } from '../../matching/detector.ts';
import { measureEntropy } from '../../matching/entropy.ts';
import { sampleBody } from '../../matching/sample-text.ts';

export const buildServiceDetector: readonly Detector[] = [
  {
    id: 'service.token',
    detector: 'api_key',
    tags: ['secret.credential.api_key.service'],
    severity: 'critical',
    strength: 'proof',
    description: "This service's own credentials: `svc_` and at least 20 characters.",
    anchors: ['\\bsvc_'],
    pattern: /svc_(?:(?!svc_)[\w-]){20,200}/,
    validate: (value) => /\d/.test(value) && measureEntropy(value) > 3.2,
    examples: {
      hits: [`authorization: Bearer «${'svc'}_${sampleBody(43)}»`],
      misses: ['svc_account_of_the_payments_team', 'svc_short'],
    },
  },
];

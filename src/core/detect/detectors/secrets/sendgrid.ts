import type { Detector } from '../../matching/detector.ts';
import { isUnmasked } from '../../matching/placeholders.ts';
import { sampleBody } from '../../matching/sample-text.ts';

export const sendgrid: readonly Detector[] = [
  {
    id: 'sendgrid.api_key',
    detector: 'api_key',
    tags: ['secret.credential.api_key.sendgrid'],
    severity: 'critical',
    strength: 'proof',
    description: 'SendGrid API keys: `SG.`, 22 characters, a dot, 43 characters.',
    anchors: ['\\bSG\\.'],
    pattern: /SG\.[\w-]{16,32}\.[\w-]{16,64}(?![\w-])/,
    validate: isUnmasked,
    examples: {
      hits: [`«${'SG'}.${sampleBody(22)}.${sampleBody(43)}»`],
      misses: ['SG.com is a name'],
    },
  },
];

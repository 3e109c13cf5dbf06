import type { Detector } from '../../matching/detector.ts';
import { isUnmasked } from '../../matching/placeholders.ts';
import { sampleBody } from '../../matching/sample-text.ts';

export const pypi: readonly Detector[] = [
  {
    id: 'pypi.token',
    detector: 'api_key',
    tags: ['secret.credential.api_key.pypi'],
    severity: 'critical',
    strength: 'proof',
    description: 'PyPI upload tokens: macaroons for pypi.org and test.pypi.org.',
    anchors: ['\\bpypi-AgE'],
    pattern: /pypi-AgE[\w-]{50,1000}/,
    validate: isUnmasked,
    examples: {
      hits: [`«${'pypi'}-AgEIcHlwaS5vcmc${sampleBody(70)}»`],
      misses: ['pypi-AgEI'],
    },
  },
];

import type { Detector } from '../../matching/detector.ts';
import { isUnmasked } from '../../matching/placeholders.ts';
import { sampleBody } from '../../matching/sample-text.ts';

export const npm: readonly Detector[] = [
  {
    id: 'npm.token',
    detector: 'api_key',
    tags: ['secret.credential.api_key.npm'],
    severity: 'critical',
    strength: 'proof',
    description: 'npm access tokens: `npm_` and 36 characters, whatever their checksum.',
    anchors: ['\\bnpm_'],
    pattern: /npm_[A-Za-z0-9]{36}(?![A-Za-z0-9])/,
    validate: isUnmasked,
    examples: {
      hits: [`//registry.npmjs.org/:_authToken=«${'npm'}_${sampleBody(36)}»`],
      misses: ['npm_config_registry'],
    },
  },
];

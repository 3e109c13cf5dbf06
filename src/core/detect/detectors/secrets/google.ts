import type { Detector } from '../../matching/detector.ts';
import { isUnmasked } from '../../matching/placeholders.ts';
import { sampleBody } from '../../matching/sample-text.ts';

export const google: readonly Detector[] = [
  {
    id: 'google.api_key',
    detector: 'api_key',
    tags: ['secret.credential.api_key.google'],
    severity: 'critical',
    strength: 'proof',
    description: 'Google API keys: `AIza` and 35 base64url characters.',
    anchors: ['\\bAIza'],
    pattern: /AIza[\w-]{35}(?![\w-])/,
    validate: isUnmasked,
    examples: {
      hits: [`key=«${'AIza'}${sampleBody(35)}»`],
      misses: [`${'AIza'}${sampleBody(20)}`],
    },
  },
  {
    id: 'google.oauth_client_secret',
    detector: 'api_key',
    tags: ['secret.credential.api_key.google'],
    severity: 'critical',
    strength: 'proof',
    description: 'Google OAuth client secrets: `GOCSPX-` and 28 characters.',
    anchors: ['\\bGOCSPX-'],
    pattern: /GOCSPX-[\w-]{28}(?![\w-])/,
    validate: isUnmasked,
    examples: {
      hits: [`«${'GOCSPX'}-${sampleBody(28)}»`],
      misses: ['GOCSPX-secret'],
    },
  },
  {
    id: 'google.access_token',
    detector: 'api_key',
    tags: ['secret.credential.api_key.google'],
    severity: 'critical',
    strength: 'proof',
    description: 'Google OAuth access tokens: `ya29.` and a long body; and Gemini keys of the `AQ.` kind.',
    anchors: ['\\bya29\\.', '\\bAQ\\.Ab8'],
    pattern: /(?:ya29\.[\w-]{30,1000}|AQ\.Ab8[\w-]{40,120})/,
    validate: isUnmasked,
    examples: {
      hits: [`«${'ya29'}.${sampleBody(120)}»`],
      misses: ['ya29.short'],
    },
  },
];

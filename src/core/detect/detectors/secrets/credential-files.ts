import { decodeBase64 } from '../../../text/base64.ts';
import type { Detector } from '../../matching/detector.ts';
import { isPlaceholder } from '../../matching/placeholders.ts';
import { HEX_ALPHABET, sampleBody } from '../../matching/sample-text.ts';

export const credentialFiles: readonly Detector[] = [
  {
    id: 'docker.registry_auth',
    detector: 'basic_auth',
    tags: ['secret.credential.basic_auth.docker'],
    severity: 'critical',
    strength: 'proof',
    description:
      'The `auth` of a registry in a Docker configuration: base64 that decodes to `user:password`.',
    anchors: ['"auth', '"_auth', '\\b_auth'],
    pattern:
      /["\\]{0,2}_?auth["\\]{0,2}\s{0,3}[:=]\s{0,3}["\\]{0,2}(?<value>[A-Za-z0-9+/]{8,600}={0,2})(?![A-Za-z0-9+/=])/,
    validate: isPair,
    examples: {
      hits: [`{"auths": {"registry.test": {"auth": "«${'YWxpY2U6'}${'b3BlbnNlc2FtZQ=='}»"}}}`],
      misses: ['"auth": "required"', '"auth": "disabledforever"', '"author": "YWxpY2U6b3BlbnNlc2FtZQ=="'],
    },
  },
  {
    id: 'newrelic.license_key',
    detector: 'api_key',
    tags: ['secret.credential.api_key.newrelic'],
    severity: 'critical',
    strength: 'proof',
    description: 'New Relic licence keys: 36 characters, the first of them a region or hex, and `NRAL`.',
    anchors: ['[a-f0-9]NRAL'],
    back: { over: '[a-z0-9]', units_max: 35 },
    pattern: /[a-z0-9]{36}NRAL(?!\w)/,
    examples: {
      hits: [
        `license_key: «${sampleBody(36, HEX_ALPHABET)}NRAL»`,
        `key=«eu01xx${sampleBody(30, HEX_ALPHABET)}NRAL»`,
      ],
      misses: ['5NRAL', `${sampleBody(12, HEX_ALPHABET)}NRAL`],
    },
  },
  {
    id: 'azure.signed_key',
    detector: 'api_key',
    tags: ['secret.credential.api_key.azure'],
    severity: 'critical',
    strength: 'proof',
    description:
      'Azure keys that carry a signature, as Microsoft documents them: 52 characters, `JQQJ99`, and what follows.',
    anchors: ['[A-Za-z0-9]JQQJ99', '[A-Za-z0-9]AZDO'],
    back: { over: '[A-Za-z0-9]', units_max: 79 },
    pattern:
      /(?:[A-Za-z0-9]{50,54}JQQJ99[A-Za-z0-9]{20,40}|[A-Za-z0-9]{76,80}AZDO[A-Za-z0-9]{4})(?![A-Za-z0-9])/,
    examples: {
      hits: [
        `pat = "«${sampleBody(52)}${'JQQJ'}99${sampleBody(26)}»"`,
        `«${sampleBody(76)}${'AZ'}DO${sampleBody(4)}»`,
      ],
      misses: [`${sampleBody(20)}JQQJ99${sampleBody(20)}`, 'theAZDOtoken'],
    },
  },
];

function isPair(value: string): boolean {
  const text = decodeBase64(value);
  if (text === null || !/^[\x20-\x7e]{1,400}$/.test(text)) return false;
  const colon = text.indexOf(':');
  return colon > 0 && colon < text.length - 1 && !isPlaceholder(text.slice(colon + 1));
}

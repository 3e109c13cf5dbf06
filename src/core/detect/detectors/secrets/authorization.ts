import { decodeBase64 } from '../../../text/base64.ts';
import type { Severity } from '../../../types/index.ts';
import type { Detector } from '../../matching/detector.ts';
import { measureEntropy } from '../../matching/entropy.ts';
import { gradeNamedKey, gradePlacedPassword } from '../../matching/grade-secret.ts';
import { isPlaceholder } from '../../matching/placeholders.ts';
import { sampleBody } from '../../matching/sample-text.ts';

export const authorization: readonly Detector[] = [
  {
    id: 'http.basic_auth',
    detector: 'basic_auth',
    tags: ['secret.credential.basic_auth'],
    severity: 'critical',
    grade: gradeBasicPair,
    strength: 'proof',
    description: 'HTTP Basic credentials (RFC 7617): `Basic` and base64 that decodes to `user:password`.',
    anchors: ['(?i)\\bbasic [A-Za-z0-9+/]'],
    pattern: /basic (?<value>[A-Za-z0-9+/]{6,400}={0,2})(?![A-Za-z0-9+/=])/i,
    try_work: 128,
    validate: isBasicPair,
    examples: {
      hits: [
        'Authorization: Basic «' + 'YWxpY2U6' + 'b3BlbnNlc2FtZQ==' + '»',
        `-H "authorization: basic «${'cm9v'}${'dDprNGN0dXM='}»"`,
      ],
      misses: ['a basic understanding of HTTP', 'Basic authentication', 'Visual Basic programming'],
    },
  },
  {
    id: 'http.bearer_token',
    detector: 'bearer_token',
    tags: ['secret.credential.bearer_token'],
    severity: 'high',
    grade: gradeNamedKey,
    strength: 'cue',
    description:
      'Bearer tokens (RFC 6750) in headers and in prose: `Bearer` and at least 16 token characters.',
    anchors: ['(?i)\\bbearer [A-Za-z0-9._~+/-]'],
    pattern: /bearer (?<value>[A-Za-z0-9._~+/-]{16,4096}={0,2})/i,
    validate: isBearerValue,
    examples: {
      hits: [
        `Authorization: Bearer «${sampleBody(40)}»`,
        `curl -H 'authorization: bearer «${sampleBody(24)}»' https://api.test`,
      ],
      misses: [
        'Authorization: Bearer <token>',
        'Bearer authentication-and-authorization',
        'Bearer $ACCESS_TOKEN',
      ],
    },
  },
];

function gradeBasicPair(value: string): Severity {
  const text = decodeBase64(value) ?? '';
  return gradePlacedPassword(text.slice(text.indexOf(':') + 1));
}

function isBasicPair(value: string): boolean {
  const text = decodeBase64(value);
  if (text === null || !/^[\x20-\x7e]{1,150}$/.test(text)) return false;
  const colon = text.indexOf(':');
  return colon >= 0 && colon < text.length - 1 && !isPlaceholder(text.slice(colon + 1));
}

function isBearerValue(value: string): boolean {
  return /\d/.test(value) && /[a-z]/i.test(value) && !isPlaceholder(value) && measureEntropy(value) >= 3;
}

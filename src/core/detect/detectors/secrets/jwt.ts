import { decodeBase64 } from '../../../text/base64.ts';
import type { Detector } from '../../matching/detector.ts';
import { sampleBody } from '../../matching/sample-text.ts';

export const jwt: readonly Detector[] = [
  {
    id: 'jwt.signed',
    detector: 'jwt',
    tags: ['secret.credential.jwt'],
    severity: 'critical',
    strength: 'proof',
    description:
      'JSON Web Tokens (RFC 7519): a header that decodes to JSON with `alg`, a JSON payload, a signature.',
    anchors: ['[\\w-]\\.e[yw][A-Za-z0-9]'],
    back: { over: '[\\w-]', units_max: 2048 },
    pattern: /[\w-]{10,2048}\.e[yw][\w-]{4,8192}\.[\w-]{0,2048}/,
    validate: hasHeader,
    examples: {
      hits: [`token=«${'eyJh'}bGciOiJIUzI1NiJ9.${'eyJz'}dWIiOiJhbGljZSJ9.${sampleBody(43)}»`],
      misses: [`${sampleBody(20)}.${'eyJz'}dWIiOiJhbGljZSJ9.${sampleBody(43)}`, 'a.eyb.c'],
    },
  },
];

/** Returns whether the header is a complete JSON object that names an algorithm. */
function hasHeader(token: string): boolean {
  const header = decodeBase64(token.slice(0, token.indexOf('.')));
  return header !== null && /^\s*\{.*"alg"\s*:\s*".*\}\s*$/s.test(header);
}

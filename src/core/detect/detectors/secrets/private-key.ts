import type { Detector } from '../../matching/detector.ts';
import { sampleBody } from '../../matching/sample-text.ts';

export const privateKey: readonly Detector[] = [
  {
    id: 'pem.private_key',
    detector: 'private_key',
    tags: ['secret.credential.private_key'],
    severity: 'critical',
    strength: 'proof',
    description:
      'Private keys in PEM (RFC 7468), OpenSSH and PGP armour: the whole block, also with escaped line breaks or cut off.',
    anchors: ['-----BEGIN [A-Z]'],
    pattern:
      /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?=[^-]|$)(?:[^-]|-(?!----)){8,20000}(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?/,
    validate: (value) => /[A-Za-z0-9+/]{16}/.test(value.slice(27)),
    examples: {
      hits: [
        `«-----BEGIN ${'RSA PRIVATE'} KEY-----\n${sampleBody(64)}\n${sampleBody(40)}==\n-----END RSA PRIVATE KEY-----»\n`,
        `"«-----BEGIN ${'PRIVATE'} KEY-----\\n${sampleBody(64)}\\n-----END PRIVATE KEY-----»\\n"`,
      ],
      misses: [
        `-----BEGIN PUBLIC KEY-----\n${sampleBody(64)}\n-----END PUBLIC KEY-----`,
        `-----BEGIN CERTIFICATE-----\n${sampleBody(64)}\n-----END CERTIFICATE-----`,
        '-----BEGIN PRIVATE KEY----- ... -----END PRIVATE KEY-----',
      ],
    },
  },
];

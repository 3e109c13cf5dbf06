import { decodeBase64 } from '../../../text/base64.ts';
import type { Detector } from '../../matching/detector.ts';
import { BASE58, sampleBody } from '../../matching/sample-text.ts';

/** Private keys outside PEM armor: DER in base64, JSON Web Keys, and the key formats of individual programs. */
export const keyMaterial: readonly Detector[] = [
  {
    id: 'der.private_key',
    detector: 'private_key',
    tags: ['secret.credential.private_key'],
    severity: 'critical',
    strength: 'proof',
    description:
      'Private keys in DER as base64 (PKCS #1, #8 and #12, SEC 1): a sequence that begins with the version, and what the standard has behind it.',
    anchors: [
      '\\bMII[A-Z][A-Za-z0-9+/][AQgw]IB',
      '\\bMI[GH][A-Za-z0-9+/]AgE[AB]',
      '\\bMHcCAQEE',
      '\\bMC4CAQAw',
    ],
    pattern: /M[A-Za-z0-9+/]{59,8000}={0,2}/,
    validate: isPrivateKey,
    examples: {
      hits: [
        `key = "«${'MIIEvQIBADANBgkq'}hkiG9w0BAQEFAASCBKcw${sampleBody(80)}»"`,
        `«${'MIIEpAIBAAKCAQEA'}${sampleBody(80)}»`,
        `«${'MIGHAgEAMBMGByqG'}SM49AgEGCCqGSM49AwEHBG0w${sampleBody(60)}»`,
        `«${'MHcCAQEEI'}${sampleBody(80)}»`,
        `pfx: «${'MIIKBwIBAzCCCcMG'}${sampleBody(80)}»`,
      ],
      misses: [
        `${'MIIDxDCCAqygAwIBAgIUWzjP9yEI4xyQ'}${sampleBody(60)}`,
        `${'MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A'}${sampleBody(60)}`,
        `${'MIIEvQIBADANBgkq'}hkiG`,
      ],
    },
  },
  {
    id: 'jwk.private_key',
    detector: 'private_key',
    tags: ['secret.credential.private_key.jwk'],
    severity: 'critical',
    strength: 'proof',
    description:
      'JSON Web Keys with a private part (RFC 7517): `d` of RSA and elliptic curves, `k` of symmetric keys, next to `kty`.',
    anchors: ['"kty'],
    pattern:
      /"kty\\?"\s{0,3}:\s{0,3}\\?"(?:RSA|EC|OKP|oct)\\?"(?:(?!"kty)[^{}]){0,1500}?\\?"[dk]\\?"\s{0,3}:\s{0,3}\\?"(?<value>[\w-]{20,2000})\\?"/,
    try_work: 900,
    examples: {
      hits: [
        `{"kty":"EC","crv":"P-256","x":"${sampleBody(43)}","d":"«${sampleBody(43)}»"}`,
        `{"kty": "oct", "k": "«${sampleBody(43)}»"}`,
      ],
      misses: [
        `{"kty":"EC","crv":"P-256","x":"${sampleBody(43)}","y":"${sampleBody(43)}"}`,
        '{"kty":"RSA","n":"abc","e":"AQAB"}',
      ],
    },
  },
  {
    id: 'putty.private_key',
    detector: 'private_key',
    tags: ['secret.credential.private_key.putty'],
    severity: 'critical',
    strength: 'proof',
    description: 'The private lines of a PuTTY key file.',
    anchors: ['Private-Lines: '],
    pattern: /Private-Lines: \d{1,3}\r?\n(?<value>[A-Za-z0-9+/=\r\n]{20,8000})/,
    examples: {
      hits: [`Private-Lines: 1\n«${sampleBody(64)}»`],
      misses: [`Public-Lines: 1\n${sampleBody(64)}`],
    },
  },
  {
    id: 'wireguard.key',
    detector: 'private_key',
    tags: ['secret.credential.private_key.wireguard'],
    severity: 'critical',
    strength: 'proof',
    description: 'Private and shared keys of WireGuard: 32 bytes in base64 next to their name.',
    anchors: ['PrivateKey ?=', 'PresharedKey ?='],
    pattern: /(?:PrivateKey|PresharedKey) ?= ?(?<value>[A-Za-z0-9+/]{43}=)/,
    examples: {
      hits: [`PrivateKey = «${sampleBody(42)}A=»\n`, `PresharedKey=«${sampleBody(42)}0=»`],
      misses: [`PublicKey = ${sampleBody(42)}A=`, `PrivateKey = ${sampleBody(20)}`],
    },
  },
  {
    id: 'wallet.extended_private_key',
    detector: 'private_key',
    tags: ['secret.credential.private_key.wallet'],
    severity: 'critical',
    strength: 'proof',
    description:
      'Extended private keys of wallets (BIP 32 and its kin): `xprv`, `yprv`, `zprv`, `tprv` and 107 characters.',
    anchors: ['\\b[xyzt]prv[1-9A-HJ-NP-Za-km-z]'],
    pattern: /[xyzt]prv[1-9A-HJ-NP-Za-km-z]{107}(?![A-Za-z0-9])/,
    examples: {
      hits: [`seed «${'xprv'}${sampleBody(107, BASE58)}»`],
      misses: [`xpub${sampleBody(107, BASE58)}`, `xprv${sampleBody(20, BASE58)}`],
    },
  },
];

/** Units to decode. The first bytes are enough to identify a structure. */
const HEAD_UNITS = 48;
const SEQUENCE = 0x30;
const INTEGER = 0x02;
const OCTETS = 0x04;

/**
 * Returns whether DER starts like a private key: a sequence whose first member is the version 0 (PKCS #1 followed by
 * an integer, PKCS #8 by a sequence), 1 (SEC 1, by octets) or 3 (PKCS #12, by a sequence). Certificates and public
 * keys start with a sequence.
 */
function isPrivateKey(encoded: string): boolean {
  const der = decodeBase64(encoded.slice(0, HEAD_UNITS));
  if (der?.charCodeAt(0) !== SEQUENCE) return false;
  const length = der.charCodeAt(1);
  const at = length < 0x80 ? 2 : 2 + (length & 0x7f);
  if (der.charCodeAt(at) !== INTEGER || der.charCodeAt(at + 1) !== 1) return false;
  const version = der.charCodeAt(at + 2);
  const next = der.charCodeAt(at + 3);
  if (version === 0) return next === SEQUENCE || next === INTEGER;
  return version === 1 ? next === OCTETS : version === 3 && next === SEQUENCE;
}

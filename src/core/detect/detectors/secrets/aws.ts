import type { Detector } from '../../matching/detector.ts';
import { measureEntropy } from '../../matching/entropy.ts';
import { isUnmasked } from '../../matching/placeholders.ts';
import { BASE32, HEX_ALPHABET, sampleBody } from '../../matching/sample-text.ts';

export const aws: readonly Detector[] = [
  {
    id: 'aws.access_key_id',
    detector: 'api_key',
    tags: ['secret.credential.api_key.aws'],
    severity: 'critical',
    strength: 'proof',
    description:
      'AWS access key ids that decode: base 32 behind the prefix, and in it the number of an account, which has twelve digits at most.',
    anchors: ['\\bA[KSBC][ICI][AC]'],
    pattern: /(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}(?![A-Za-z0-9])/,
    validate: (id) => isUnmasked(id) && isAccount(id),
    examples: {
      hits: [`id «${'ASIA'}${'Y34FZKBO'}KMUTVV7A» here`],
      misses: [`${'AKIA'}${'P7777777'}KMUTVV7A`, `${'AKIA'}${'Y34FZKB1'}KMUTVV7A`],
    },
  },
  {
    id: 'aws.access_key_id_by_form',
    detector: 'api_key',
    tags: ['secret.credential.api_key.aws'],
    severity: 'critical',
    strength: 'proof',
    description:
      'AWS access key ids, long-lived (`AKIA`) and temporary (`ASIA`), as IAM documents them: 20 capitals and digits, whatever they decode to.',
    anchors: ['\\bA[KSBC][ICI][AC]'],
    pattern: /(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])/,
    validate: isUnmasked,
    examples: {
      hits: [`id «${'AKIA'}${sampleBody(16, BASE32)}» here`, `"«${'ASIA'}${sampleBody(16, BASE32)}»"`],
      misses: [
        `${'AKIA'}${sampleBody(15, BASE32)}`,
        `${'AKIA'}${sampleBody(30, BASE32)}`,
        `X${'AKIA'}${sampleBody(16, BASE32)}`,
      ],
    },
  },
  {
    id: 'aws.secret_access_key',
    detector: 'api_key',
    tags: ['secret.credential.api_key.aws'],
    severity: 'critical',
    strength: 'cue',
    description: 'AWS secret access keys: 40 base64 characters next to their name.',
    anchors: ['(?i)secret[_ -]?access[_ -]?key', '(?i)aws[_ -]?secret'],
    pattern:
      /(?:aws[_ -]?secret|secret[_ -]?access[_ -]?key)[\w -]{0,20}\\?["'`]?(?:\s{0,4}(?:=>|[:=]|is)\s{0,4}|,\s{0,4}|>)\\?["'`]?(?<value>[A-Za-z0-9+/]{40})(?![A-Za-z0-9+/=])/i,
    validate: isSecretKey,
    member: {
      key: /^(?:aws)?[_-]?(?:secret[_-]?access[_-]?key|aws[_-]?secret[_-]?key)$/i,
      validate: (value) => /^[A-Za-z0-9+/]{40}$/.test(value) && isSecretKey(value),
    },
    examples: {
      hits: [`aws_secret_access_key = «${sampleBody(40)}»`, `"SecretAccessKey": "«${sampleBody(40)}»"`],
      misses: [
        `aws_secret_access_key = ${sampleBody(39)}`,
        `aws_secret_access_key = \${AWS_SECRET_ACCESS_KEY}`,
        `commit ${sampleBody(40, HEX_ALPHABET)}`,
      ],
    },
  },
  {
    id: 'aws.bedrock_key',
    detector: 'api_key',
    tags: ['secret.credential.api_key.aws'],
    severity: 'critical',
    strength: 'proof',
    description: 'Amazon Bedrock API keys, long-lived (`ABSK`) and short-lived (`bedrock-api-key-`).',
    anchors: ['\\bABSKQmVk', '\\bbedrock-api-key-'],
    pattern: /(?:ABSKQmVk[A-Za-z0-9+/]{60,280}={0,2}|bedrock-api-key-[A-Za-z0-9+/=]{20,2000})/,
    validate: isUnmasked,
    examples: {
      hits: [`key «${'ABSK'}QmVk${sampleBody(110)}=»`, `«${'bedrock-api-'}key-${sampleBody(120)}»`],
      misses: ['ABSKQmVk', 'see bedrock-api-key-docs'],
    },
  },
];

/** Returns whether a value can be a secret key. Excludes hex digests of 40 digits and text with low entropy. */
function isSecretKey(value: string): boolean {
  return !/^[a-f0-9]{40}$/i.test(value) && measureEntropy(value) > 3.5;
}

/** Units after the prefix that encode the account: 40 bits that follow the first bit. */
const ACCOUNT_UNITS = 9;
const ACCOUNTS = 1e12;

function isAccount(id: string): boolean {
  let bits = 0n;
  for (const unit of id.slice(4, 4 + ACCOUNT_UNITS)) bits = (bits << 5n) | BigInt(BASE32.indexOf(unit));
  return Number((bits >> 4n) & 0xffffffffffn) < ACCOUNTS;
}

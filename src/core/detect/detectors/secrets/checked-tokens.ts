import { computeCrc32, encodeBase62 } from '../../matching/crc32.ts';
import type { Detector } from '../../matching/detector.ts';
import { BASE62, HEX_ALPHABET, sampleBody } from '../../matching/sample-text.ts';

/** A vendor whose tokens end with a CRC-32 of the part before it. */
interface ChecksummedToken {
  readonly vendor: string;
  /** One sentence on the checksum and the source of its definition. */
  readonly description: string;
  readonly anchors: readonly string[];
  readonly pattern: RegExp;
  /** Length of the checksum in characters. */
  readonly sum_length: number;
  /** Computes the checksum from the rest of a token. */
  readonly sum: (rest: string) => string;
  /** The rest of a sample token, for the examples. */
  readonly sample: string;
}

/**
 * Work of one attempt: reads a token of up to a few hundred units, and reads it again from its end if it continues.
 */
const TRY_WORK = 64;

/**
 * A valid checksum proves a token, even inside other letters and regardless of the words that it contains. An invalid
 * checksum proves nothing, because tokens get cut and edited; the other detectors of the vendor find those by their
 * form. If both match, this detector is reported, because it comes first in the list.
 */
function buildChecksummedDetector({
  vendor,
  description,
  anchors,
  pattern,
  sum_length,
  sum,
  sample,
}: ChecksummedToken): Detector {
  const right = sample + sum(sample);
  const last = right.at(-1) === '0' ? '1' : '0';
  return {
    id: `${vendor}.checked_token`,
    detector: 'api_key',
    tags: [`secret.credential.api_key.${vendor}`],
    severity: 'critical',
    strength: 'proof',
    description,
    anchors,
    pattern,
    try_work: TRY_WORK,
    validate: (token) =>
      token.slice(-sum_length).toLowerCase() === sum(token.slice(0, -sum_length)).toLowerCase(),
    examples: {
      hits: [`token: «${right}»`, `https://x${'«'}${right}${'»'}@host`],
      misses: [right.slice(0, -1) + last, right.slice(0, -2)],
    },
  };
}

const hex8 = (number: number): string => number.toString(16).padStart(8, '0');
const afterPrefix = (rest: string): string => rest.slice(rest.indexOf('_') + 1);

export const checkedTokens: readonly Detector[] = [
  buildChecksummedDetector({
    vendor: 'github',
    description:
      'GitHub tokens whose last six characters are the CRC-32 of the thirty before them in base 62, as GitHub’s engineering blog describes it.',
    anchors: ['gh[pousr]_'],
    pattern: /gh[pousr]_[A-Za-z0-9]{36}/,
    sum_length: 6,
    sum: (rest) => encodeBase62(computeCrc32(afterPrefix(rest)), 6),
    sample: `${'ghp'}_${sampleBody(30)}`,
  }),
  buildChecksummedDetector({
    vendor: 'npm',
    description:
      'npm tokens whose last six characters are the CRC-32 of the thirty before them in base 62, as at GitHub.',
    anchors: ['npm_'],
    pattern: /npm_[A-Za-z0-9]{36}/,
    sum_length: 6,
    sum: (rest) => encodeBase62(computeCrc32(afterPrefix(rest)), 6),
    sample: `${'npm'}_${sampleBody(30)}`,
  }),
  buildChecksummedDetector({
    vendor: 'gitlab',
    description:
      'GitLab’s routable tokens: after a dot the length of the payload in base 36, and the CRC-32 of all before it in base 36, as GitLab’s design document has it.',
    anchors: [
      'glpat-',
      'gldt-',
      'glrt-',
      'glptt-',
      'glcbt-',
      'glsoat-',
      'glimt-',
      'glagent-',
      'glft-',
      'gloas-',
    ],
    pattern: /gl[a-z]{2,5}-[\w-]{27,300}\.[0-9a-z]{9}/,
    sum_length: 7,
    sum: (rest) => computeCrc32(rest).toString(36).padStart(7, '0'),
    sample: `${'glpat'}-${sampleBody(51)}.1f`,
  }),
  buildChecksummedDetector({
    vendor: 'grafana',
    description:
      'Grafana service account tokens whose last eight characters are the CRC-32 of prefix and body in base 16.',
    anchors: ['glsa_'],
    pattern: /glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}/,
    sum_length: 8,
    sum: (rest) => hex8(computeCrc32(rest.slice(0, -1))),
    sample: `${'glsa'}_${sampleBody(32)}_`,
  }),
  buildChecksummedDetector({
    vendor: 'cloudflare',
    description:
      'Cloudflare keys and tokens of the form with a prefix, whose last eight characters are the CRC-32 of the forty before them in base 16.',
    anchors: ['cf[ua]t_', 'cfk_'],
    pattern: /cf(?:[ua]t|k)_[A-Za-z0-9]{40}[a-f0-9]{8}/,
    sum_length: 8,
    sum: (rest) => hex8(computeCrc32(afterPrefix(rest))),
    sample: `${'cfut'}_${sampleBody(40, BASE62)}`,
  }),
  buildChecksummedDetector({
    vendor: 'zuplo',
    description: 'Zuplo keys whose last eight characters are the CRC-32 of the 32 before them in base 16.',
    anchors: ['zpk[ad]_'],
    pattern: /zpk[ad]_[a-f0-9]{32}_[a-f0-9]{8}/,
    sum_length: 8,
    sum: (rest) => hex8(computeCrc32(rest.slice(5, -1))),
    sample: `${'zpka'}_${sampleBody(32, HEX_ALPHABET)}_`,
  }),
];

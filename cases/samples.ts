import { BASE62, DIGIT_ALPHABET, HEX_ALPHABET, sampleBody } from '../src/core/detect/matching/sample-text.ts';

/**
 * The values of `{{name}}` in a case: secrets that are concatenated, so that no file contains a whole one, and text
 * that is too long to write down.
 */
export const SAMPLES: Readonly<Record<string, string>> = {
  pinned_key: `${'sk'}-ABCDEF1234567890`,
  openai: `${'sk'}-proj-${sampleBody(156)}`,
  anthropic: `${'sk'}-ant-api03-${sampleBody(93)}AA`,
  aws_id: `${'AK'}IAQ4ZTRD2WVB5YXM3K`,
  github: `${'gh'}p_${sampleBody(36)}`,
  escaped_github: `\\u0067hp_${sampleBody(36)}`,
  gitlab: `${'gl'}pat-${sampleBody(20)}`,
  google: `${'AI'}za${sampleBody(35)}`,
  stripe: `${'sk'}_${'live'}_${sampleBody(24)}`,
  sendgrid: `${'SG'}.${sampleBody(22)}.${sampleBody(43)}`,
  slack: `${'xo'}xb-${sampleBody(12, DIGIT_ALPHABET)}-${sampleBody(13, DIGIT_ALPHABET)}-${sampleBody(24)}`,
  npm: `${'np'}m_${sampleBody(36)}`,
  jwt: [
    'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9',
    'eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4ifQ',
    sampleBody(43),
  ].join('.'),
  private_key: `-----BEGIN ${'RSA'} PRIVATE KEY-----\n${sampleBody(64, BASE62)}\n${sampleBody(64)}\n-----END ${'RSA'} PRIVATE KEY-----`,
  connection: 'postgresql://admin:p4ssw0rd@db.internal:5432/prod',
  hex: sampleBody(64, HEX_ALPHABET),
};

const SAMPLE = /\{\{(\w+)(?::([^{}]{0,40}?)(?::(\d{1,7}))?)?\}\}/g;
const NESTED = /^\{\{nested:(\d{1,6})\}\}$/;

/**
 * Fills in a case: `{{openai}}` is a sample, `{{repeat:ab:1000}}` repeats `ab` a thousand times, and a text that
 * consists only of `{{nested:100}}` becomes a hundred nested lists.
 */
export function filledIn(value: unknown): unknown {
  if (typeof value === 'string') return filledText(value);
  if (Array.isArray(value)) return value.map(filledIn);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [String(filledText(key)), filledIn(member)]),
  );
}

function filledText(text: string): unknown {
  const levels = NESTED.exec(text)?.[1];
  if (levels !== undefined) return nested(Number(levels));
  return text.replace(SAMPLE, (whole, name: string, unit?: string, times?: string) => {
    if (name === 'repeat') return (unit as string).repeat(Number(times));
    const sample = SAMPLES[name];
    if (sample === undefined) throw new Error(`There is no sample for ${whole}.`);
    return sample;
  });
}

function nested(levels: number): unknown {
  let value: unknown = 'deep';
  for (let level = 0; level < levels; level += 1) value = [value];
  return value;
}

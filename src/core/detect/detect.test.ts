import assert from 'node:assert/strict';
import { test } from 'node:test';
import { redact } from '../decision/redact.ts';
import { DETECTION } from '../testing/policies.ts';
import type { Content, Detection, Json, ScanLimits } from '../types/index.ts';
import { detect } from './detect.ts';

const LIMITS: ScanLimits = { text_bytes_max: 10_000, depth_max: 20, nodes_max: 1000, findings_max: 50 };
const KEY = 'sk-ABCDEF1234567890';
const SSN = '123-45-6789';

function getText(text: string): Content {
  return { kind: 'text', text };
}

function getJson(value: Json): Content {
  return { kind: 'json', value };
}

/** Returns the findings as `detector@path start-end`, or without the path in a text. */
function listFindings(content: Content, detection = DETECTION, limits = LIMITS): string[] {
  return detect(content, detection, limits).findings.map(
    ({ detector, path, start, end }) => `${detector}${path === null ? '' : `@${path}`} ${start}-${end}`,
  );
}

test('the examples of the interface give exactly one finding each', () => {
  const [key] = detect(getText(`Use key ${KEY}`), DETECTION, LIMITS).findings;
  assert.deepEqual(key, {
    rule_id: 'generic.sk_key',
    detector: 'api_key',
    type: 'secret_detected',
    severity: 'critical',
    tags: ['secret.credential.api_key'],
    start: 8,
    end: 27,
    leaf: 0,
    path: null,
  });
  const config = `Here is the config: DATABASE_URL=postgresql://admin:${'p4ss'}w0rd@db.internal:5432/prod`;
  const { findings } = detect(getText(config), DETECTION, LIMITS);
  assert.deepEqual(
    findings.map(({ detector }) => detector),
    ['connection_string'],
  );
  assert.deepEqual(
    redact(getText(config), findings, false),
    getText('Here is the config: DATABASE_URL=[REDACTED]'),
  );
  const [ssn, ...more] = detect(getText(`My SSN is ${SSN}.`), DETECTION, LIMITS).findings;
  assert.deepEqual(
    [ssn?.type, ssn?.detector, ssn?.severity, more.length],
    ['pii_detected', 'ssn', 'high', 0],
  );
});

const PLACES: readonly { says: string; content: Content; expected: readonly string[] }[] = [
  { says: 'a clean text', content: getText('Nothing to see here.'), expected: [] },
  { says: 'an empty text', content: getText(''), expected: [] },
  { says: 'several, by place', content: getText(`${SSN} ${KEY}`), expected: ['ssn 0-11', 'api_key 12-31'] },
  { says: 'behind an emoji', content: getText(`😀 ${SSN}`), expected: ['ssn 3-14'] },
  {
    says: 'beside NUL and lone surrogates',
    content: getText(`\0\ud800${SSN}\udc00\0`),
    expected: ['ssn 2-13'],
  },
  { says: 'behind an escaped line break', content: getText(`a\\n${KEY}`), expected: ['api_key 3-22'] },
  { says: 'a string', content: getJson({ a: [1, `x ${SSN}`] }), expected: ['ssn@$.a[1] 2-13'] },
  { says: 'a number', content: getJson({ card: 4111111111111111 }), expected: ['credit_card@$.card 0-16'] },
  {
    says: 'a key',
    content: getJson({ [SSN]: { b: KEY } }),
    expected: ["ssn@$['*'] 0-11", "api_key@$['*'].b 0-19"],
  },
  { says: 'a bare string', content: getJson(KEY), expected: ['api_key@$ 0-19'] },
  {
    says: 'a value by its key',
    content: getJson({ db_password: 'open sesame' }),
    expected: ['password@$.db_password 0-11'],
  },
  { says: 'a number by its key', content: getJson({ ssn: 123456789 }), expected: ['ssn@$.ssn 0-9'] },
  {
    says: 'no value by a key further up',
    content: getJson({ password: true, name: 'open sesame' }),
    expected: [],
  },
  {
    says: 'no placeholder by its key',
    content: getJson({ password: 'changeme', token: null }),
    expected: [],
  },
  { says: 'JSON in a string', content: getJson({ a: `{"b":"${KEY}"}` }), expected: ['api_key@$.a 6-25'] },
  {
    says: 'escaped letters',
    content: getJson(['{"b":"\\u0073k-ABCDEF1234567890"}']),
    expected: ['api_key@$[0] 6-30'],
  },
  {
    says: 'escapes in a text',
    content: getText(`["\\u0073k-ABCDEF1234567890"]`),
    expected: ['api_key 2-26'],
  },
  {
    says: 'JSON in a string in a string',
    content: getJson([JSON.stringify({ a: JSON.stringify({ b: `\n${KEY}` }) })]),
    expected: ['api_key@$[0] 18-37'],
  },
  {
    says: 'a key by its name in JSON in a string',
    content: getJson([JSON.stringify({ password: 'a\nb c' })]),
    expected: ['password@$[0] 13-19'],
  },
];

test('findings have their positions', () => {
  for (const { says, content, expected } of PLACES) assert.deepEqual(listFindings(content), expected, says);
  assert.equal(PLACES.length, 19);
});

test('a family that is switched off is not looked for', () => {
  const content = getText(`${SSN} ${KEY}`);
  assert.deepEqual(listFindings(content, { ...DETECTION, secret_detection: false, pii_protection: true }), [
    'ssn 0-11',
  ]);
  assert.deepEqual(listFindings(content, { ...DETECTION, secret_detection: true, pii_protection: false }), [
    'api_key 12-31',
  ]);
  assert.deepEqual(
    listFindings(content, { ...DETECTION, secret_detection: false, pii_protection: false }),
    [],
  );
});

function nestValue(depth: number, innermost: Json): Json {
  let value = innermost;
  for (let at = 0; at < depth; at++) value = [value];
  return value;
}

/** Contents that exceed a limit, with the limit's name and the bytes scanned. */
const LIMITED: readonly { says: string; content: Content; reason: RegExp; bytes: number }[] = [
  {
    says: 'text',
    content: getText('x'.repeat(10_001)),
    reason: /scan\.text_bytes_max \(10000 bytes\)/,
    bytes: 10_000,
  },
  { says: 'bytes, not units', content: getText('é'.repeat(5_001)), reason: /text_bytes_max/, bytes: 10_000 },
  {
    says: 'all leaves together',
    content: getJson(Array(101).fill('x'.repeat(100))),
    reason: /text_bytes_max/,
    bytes: 10_000,
  },
  { says: 'depth', content: getJson(nestValue(21, 'x')), reason: /scan\.depth_max \(20\)/, bytes: 0 },
  { says: 'ten thousand levels', content: getJson(nestValue(10_000, 'x')), reason: /depth_max/, bytes: 0 },
  { says: 'parts', content: getJson(Array(1000).fill(null)), reason: /scan\.nodes_max \(1000\)/, bytes: 0 },
  {
    says: 'findings',
    content: getText(`${SSN} `.repeat(51)),
    reason: /scan\.findings_max \(50\)/,
    bytes: 612,
  },
  {
    says: 'depth in a string',
    content: getText(`["\\n",${'['.repeat(2000)}`),
    reason: /depth_max/,
    bytes: 2006,
  },
];

test('past a limit the coverage is partial and names it', () => {
  for (const { says, content, reason, bytes } of LIMITED) {
    const { coverage, findings } = detect(content, DETECTION, LIMITS);
    assert.equal(coverage.status, 'partial', says);
    if (coverage.status !== 'partial') continue;
    assert.match(coverage.reason, reason, says);
    assert.equal(coverage.bytes, bytes, says);
    assert.ok(findings.length <= LIMITS.findings_max, says);
  }
  assert.equal(LIMITED.length, 8);
});

test('at a limit the coverage is full', () => {
  const contents = [
    getText('x'.repeat(10_000)),
    getText('é'.repeat(5_000)),
    getJson(Array(100).fill('x'.repeat(100))),
    getJson(nestValue(20, 'x')),
    getJson(Array(999).fill(null)),
    getText(`${SSN} `.repeat(50)),
  ];
  for (const content of contents) assert.equal(detect(content, DETECTION, LIMITS).coverage.status, 'full');
});

test('text after the limit is not scanned, and text before it is', () => {
  assert.deepEqual(listFindings(getText(`${SSN} ${'x'.repeat(10_000)} ${SSN}`)), ['ssn 0-11']);
});

test('a search that had its fill of what does not count is not taken for a whole one', () => {
  const example = `AKIA${'IOSFODNN7'}EXAMPLE`;
  const limits = { ...LIMITS, findings_max: 2 };
  const ignoring: Detection = { ...DETECTION, example_values: 'ignore' };
  const within = detect(getText(`${example} `.repeat(3) + KEY), ignoring, LIMITS);
  assert.deepEqual([within.coverage.status, within.findings.length], ['full', 1]);
  for (const content of [getText(`${example} `.repeat(3) + KEY), getJson(`${example} `.repeat(3) + KEY)]) {
    const { coverage, findings } = detect(content, ignoring, limits);
    assert.deepEqual([coverage.status, findings.length], ['partial', 0]);
  }
});

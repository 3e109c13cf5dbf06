import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DETECTION } from '../../testing/policies.ts';
import { detect } from '../detect.ts';
import type { WorkMeter } from '../matching/compiled-detector.ts';
import type { Detector } from '../matching/detector.ts';
import { measurePatternReach } from '../matching/pattern-reach.ts';
import { scanDecoded } from '../matching/scan-decoded.ts';
import { compileScanner } from '../matching/scanner.ts';
import { allDetectors } from './all.ts';

const LIMITS = { text_bytes_max: 1 << 20, depth_max: 100, nodes_max: 1 << 20, findings_max: 1 << 20 };
const SHORT = 2 << 10;
const LONG = 16 << 10;
/** Maximum growth of the work per unit when the text is many times longer. Quadratic work would grow eightfold. */
const GROWTH_MAX = 2;
/** Maximum units that one attempt of a pattern may scan. */
const REACH_MAX = 100_000;

/** Each thirtieth beginning of an example is tried, and each in the nightly round. */
const STEP = process.env.NIGHTLY === undefined ? 30 : 1;

/** Encodings of a text piece that add work for decoding. */
const DISGUISES: readonly string[] = [
  '%41',
  '&#65;',
  '\\u0041',
  '\\\n',
  '" + "',
  "' '",
  '\u200b',
  'а',
  'a b c d e f g h ',
];
const BLOBS: readonly string[] = [
  'QUJDREVGR0hJSktM',
  '4142434445464748',
  'QUJD/',
  'c2st',
  'QUJDREVGR0hJSktM\n',
];

/** Returns prefixes of a detector's own examples: texts that get far into its pattern and then fail, or match. */
function getPieces(hit: string): readonly string[] {
  const text = hit.replace(/[«»]/g, '');
  const from = hit.indexOf('«');
  const ends = [from + 3, from + Math.ceil((text.length - from) / 4), text.length];
  return ends.flatMap((end) => [text.slice(0, end), `${text.slice(from, end)}-`]);
}

/** Returns one detector of each form, because hundreds of patterns differ only in the vendor's name or prefix. */
function pickOneOfEachForm(): readonly Detector[] {
  const form = ({ pattern }: Detector): string => pattern.source.replace(/^(?:\(\?:[^()]*\)|[\w-]+)/, '');
  return [...new Map(allDetectors.map((detector) => [form(detector), detector])).values()];
}

const scanner = compileScanner(allDetectors);

/** Returns the counted work per unit of a text that repeats the piece. */
function measureWork(piece: string, units: number): number {
  const text = piece.repeat(Math.ceil(units / piece.length)).slice(0, units);
  const meter: WorkMeter = { work: 0, allowed: Number.POSITIVE_INFINITY };
  scanDecoded(scanner, text, [], LIMITS.findings_max, meter);
  return meter.work / units;
}

test('text made of a detector’s own pieces takes work in proportion to its length', () => {
  const hits = pickOneOfEachForm().flatMap(({ examples }) => examples.hits.slice(0, 1).flatMap(getPieces));
  const pieces = new Set([
    ...hits.filter((_, at) => at % STEP === 0),
    ...DISGUISES,
    ...BLOBS,
    ...DISGUISES.map((disguise) => `${disguise}sk-`),
  ]);
  for (const piece of pieces) {
    const growth = measureWork(piece, LONG) / measureWork(piece, SHORT);
    assert.ok(growth <= GROWTH_MAX, `${growth.toFixed(1)} times per unit: ${JSON.stringify(piece)}`);
  }
  assert.ok(pieces.size * STEP > 800, `${pieces.size} pieces`);
});

test('a pattern examines a bounded number of units', () => {
  for (const { id, pattern } of allDetectors) {
    const reach = measurePatternReach(pattern);
    assert.ok(reach > 0 && reach <= REACH_MAX, `${id}: ${reach}`);
  }
});

const REACHES: readonly (readonly [RegExp, number])[] = [
  [/abc/, 3],
  [/a{2,5}[b-d\]]?\d/, 7],
  [/(?:ab|c{4}|)x(?<n>y)(?=z)/, 6],
  [/^\bé\u00e9\x41$/, 3],
  [/a+/, Number.POSITIVE_INFINITY],
  [/(?:a{2,}b){3}/, Number.POSITIVE_INFINITY],
  [/a*?b/, Number.POSITIVE_INFINITY],
];

test('the reach of a pattern is that of its longest way', () => {
  for (const [pattern, reach] of REACHES) assert.equal(measurePatternReach(pattern), reach, String(pattern));
  assert.equal(REACHES.length, 7);
});

test('a text that needs too much work is scanned in part, and the coverage is partial', () => {
  const piece = `${'%73'.repeat(3)}token=ghp_ sk-or-v1- `;
  const limits = { ...LIMITS, text_bytes_max: 4 << 20 };
  const text = piece.repeat(limits.text_bytes_max / piece.length);
  const { coverage } = detect({ kind: 'text', text }, DETECTION, limits);
  assert.equal(coverage.status, 'partial');
  if (coverage.status === 'partial') assert.match(coverage.reason, /8 times the work of clean text/);
});

/** Texts with few anchors, each followed by a long value that is scanned completely and does not match. */
const LONG_VALUES: readonly string[] = ['token: "scp ', 'cnvca-', '\n$ git b'];

test('rejected candidate values count by the work that they need', () => {
  for (const piece of LONG_VALUES) {
    const text = piece.repeat((1 << 20) / piece.length);
    assert.equal(detect({ kind: 'text', text }, DETECTION, LIMITS).coverage.status, 'partial', piece);
  }
  assert.equal(LONG_VALUES.length, 3);
});

test('text with a finding every 2 KB is far from the bound', () => {
  const prose = 'The meeting is moved to Thursday, and the room is the same as it was last week. '.repeat(25);
  const text = `${prose}write to jane.doe@acme-corp.com or use sk-ABCDEF1234567890\n`.repeat(50);
  assert.ok(measureWork(text, text.length) < 4);
  assert.equal(detect({ kind: 'text', text }, DETECTION, LIMITS).coverage.status, 'full');
});

/** Returns deterministic pseudo-random text from the letters. */
function getSome(letters: string): (count: number) => string {
  let state = 7;
  return (count) =>
    Array.from({ length: count }, () => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return letters[Math.floor((state / 2 ** 32) * letters.length)];
    }).join('');
}

const getDigits = getSome('0123456789');
const getHex = getSome('0123456789abcdef');
const base64Of = getSome('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/');

/** Typical file content in which nearly every position could start a match. */
const DENSE: Readonly<Record<string, () => string>> = {
  'numbers of nine digits': () => getDigits(9),
  'numbers of 9 to 11 digits': () => [9, 10, 11].map(getDigits).join('\t'),
  'numbers of 9 to 11 digits in columns': () => [11, 9, 10, 11, 11].map(getDigits).join(' '),
  'long numbers': () => [13, 16, 14, 8, 19, 15].map(getDigits).join(','),
  'long numbers in columns': () => [12, 16, 14, 13, 18].map(getDigits).join(' '),
  'ids in JSON': () => `{"id":1${getDigits(12)},"at":1${getDigits(12)}},`,
  'a table of short numbers': () => Array.from({ length: 9 }, () => getDigits(5)).join(','),
  decimals: () => `${getDigits(4)}.${getDigits(6)}, ${getDigits(2)}.${getDigits(3)}`,
  'a dump': () => Array.from({ length: 16 }, () => getHex(2)).join(' '),
  sums: () => `${getHex(64)}  a.txt`,
  UUIDs: () => [8, 4, 4, 4, 12].map(getHex).join('-'),
  'base64 in lines': () => base64Of(76),
};

test('dense files are scanned to their end', () => {
  for (const [name, line] of Object.entries(DENSE)) {
    let text = '';
    while (text.length < 1 << 20) text += `${line()}\n`;
    const { coverage } = detect({ kind: 'text', text }, DETECTION, { ...LIMITS, text_bytes_max: 2 << 20 });
    assert.deepEqual(coverage, { status: 'full' }, name);
  }
  assert.equal(Object.keys(DENSE).length, 12);
});

/** Ordinary sentences. Their letters are also those of phrases that detectors look for. */
const SENTENCES: Readonly<Record<string, string>> = {
  Arabic:
    'ذهبنا أمس إلى السوق القديم واشترينا الخبز والفواكه من البائع الذي نعرفه منذ سنوات، ثم عدنا إلى البيت. ',
  Bengali: 'গতকাল বিকেলে আমরা পুরনো শহরে হাঁটতে গিয়েছিলাম এবং নদীর ধারে চা খেয়েছিলাম। ',
  Chinese: '昨天下午我们去了城外的公园散步，那里的树已经开始变黄了，孩子们在草地上跑来跑去。',
  Farsi: 'دیروز عصر مدت زیادی در شهر قدیمی قدم زدیم و درباره کار و برنامه‌های تابستان صحبت کردیم. ',
  Greek: 'Χθες το βράδυ περπατήσαμε πολλή ώρα στην παλιά πόλη και μιλήσαμε για τη δουλειά. ',
  Hebrew: 'אתמול בערב טיילנו זמן רב בעיר העתיקה ודיברנו על העבודה ועל התוכניות לקיץ. ',
  Hindi: 'कल शाम को हम पुराने शहर में घूमने गए और वहाँ एक छोटी दुकान पर चाय पी। ',
  Japanese: '昨日は家族と一緒に山へ行きました。天気がよくて、遠くの海まで見えました。',
  Korean: '어제 저녁에 우리는 오래된 도시를 걸으며 일과 여름 계획에 대해 이야기했습니다. ',
  Russian: 'Вчера вечером мы долго гуляли по старому городу, разговаривали о работе и о планах на лето. ',
  Thai: 'เมื่อวานตอนเย็นเราเดินเล่นในเมืองเก่าเป็นเวลานานและคุยกันเรื่องงานและแผนสำหรับฤดูร้อน ',
  Ukrainian: 'Учора ввечері ми довго гуляли старим містом, розмовляли про роботу та плани на літо. ',
};
/** The most work per unit, a quarter of the limit of a scan. English takes 1.4. */
const SENTENCE_WORK_MAX = 2;

test('ordinary text of any script is far from the limit of work', () => {
  for (const [name, sentence] of Object.entries(SENTENCES)) {
    const work = measureWork(sentence, LONG);
    assert.ok(work < SENTENCE_WORK_MAX, `${name}: ${work.toFixed(1)} units of work for each unit`);
  }
  assert.equal(Object.keys(SENTENCES).length, 12);
});

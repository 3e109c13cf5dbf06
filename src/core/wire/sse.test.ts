import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createSseReader, replaceData, writeSseEvent } from './sse.ts';
import type { SseEvent } from './wire-format.ts';

const LIMITS = { event_units_max: 1000 };

function readAll(pieces: readonly (string | Uint8Array)[]): SseEvent[] {
  const reader = createSseReader(LIMITS);
  const events: SseEvent[] = [];
  for (const read of [...pieces.map((piece) => () => reader.read(piece)), reader.end]) {
    const { events: found, problem } = read();
    assert.equal(problem, null);
    events.push(...found);
  }
  return events;
}

const report = (events: readonly SseEvent[]) => events.map(({ name, data }) => [name, data]);

/** The examples of the HTML standard, and forms beyond it that clients and providers use. */
const STREAMS: readonly [text: string, events: readonly (readonly [string, string])[]][] = [
  ['data: a\n\n', [['', 'a']]],
  ['data: YHOO\ndata: +2\ndata: 10\n\n', [['', 'YHOO\n+2\n10']]],
  [
    ': test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n',
    [
      ['', ''],
      ['', 'first event'],
      ['', 'second event'],
      ['', ' third event'],
    ],
  ],
  [
    'data\n\ndata\ndata\n\ndata:',
    [
      ['', ''],
      ['', '\n'],
      ['', ''],
    ],
  ],
  [
    'data:test\n\ndata: test\n\n',
    [
      ['', 'test'],
      ['', 'test'],
    ],
  ],
  ['event: ping\r\ndata: {}\r\n\r\n', [['ping', '{}']]],
  ['event: ping\rdata: {}\r\r', [['ping', '{}']]],
  [
    '\ufeffdata: a\n\n\ufeffdata: b\n\n',
    [
      ['', 'a'],
      ['', 'b'],
    ],
  ],
  ['event: a\nevent: b\ndata: x:y\nretry: 10\n: note\n\n', [['b', 'x:y']]],
  [
    'data: a\n\ndata: [DONE]',
    [
      ['', 'a'],
      ['', '[DONE]'],
    ],
  ],
  ['data: \u{1f600}é\n\n', [['', '\u{1f600}é']]],
];

test('reads streams as the standard has them', () => {
  for (const [text, events] of STREAMS) {
    const found = readAll([text]);
    assert.deepEqual(report(found), events, JSON.stringify(text));
    assert.equal(found.map((each) => each.raw).join(''), text);
  }
  assert.equal(STREAMS.length, 11);
});

test('a stream cut anywhere, as text or bytes, is the same stream', () => {
  let cuts = 0;
  for (const [text] of STREAMS) {
    const bytes = new TextEncoder().encode(text);
    for (let at = 0; at <= bytes.length; at++) {
      for (const pieces of [
        [bytes.subarray(0, at), bytes.subarray(at)],
        [text.slice(0, at), text.slice(at)],
      ]) {
        assert.deepEqual(readAll(pieces), readAll([text]));
      }
      cuts += 1;
    }
  }
  assert.ok(cuts > 300, `${cuts}`);
});

test('any text in any pieces loses nothing, and data has the reported offset', () => {
  const line = fc.constantFrom('data: a', 'data:{"b":1}', 'event: c', ': d', '', 'id: 1', 'e', 'data');
  const ending = fc.constantFrom('\n', '\r\n', '\r');
  const stream = fc.array(fc.tuple(line, ending), { maxLength: 20 }).map((lines) => lines.flat().join(''));
  let foundPlaces = 0;
  fc.assert(
    fc.property(stream, fc.array(fc.nat(100)), (text, places) => {
      const cuts = [0, ...places.filter((each) => each < text.length).sort((a, b) => a - b), text.length];
      const pieces = cuts.slice(1).map((to, index) => text.slice(cuts[index], to));
      const events = readAll(pieces);
      assert.equal(events.map((each) => each.raw).join(''), text);
      assert.deepEqual(events, readAll([text]));
      for (const { raw, data, data_start } of events) {
        if (data_start === null) continue;
        assert.equal(raw.slice(data_start, data_start + data.length), data);
        foundPlaces += 1;
      }
    }),
    { numRuns: 1000 },
  );
  assert.ok(foundPlaces > 200, `${foundPlaces}`);
});

test('an event that ends with CRLF is there when all of it is, and never without its LF', () => {
  const text = 'data: a\r\n\r\ndata: b\r\n\r\n';
  const reader = createSseReader(LIMITS);
  const seen = Array.from(text, (unit) => reader.read(unit).events.map(({ raw }) => raw));
  assert.deepEqual(
    seen.flatMap((events, at) => events.map((raw) => [at + 1, raw])),
    [
      [11, text.slice(0, 11)],
      [22, text.slice(11)],
    ],
  );
  assert.deepEqual(reader.end(), { events: [], problem: null });
  const alone = createSseReader(LIMITS);
  assert.deepEqual(alone.read('data: a\r\r').events, []);
  assert.deepEqual(report(alone.end().events), [['', 'a']]);
  const long = createSseReader({ event_units_max: 10 });
  assert.equal(long.read('data: 1234\n\r').problem, null);
  assert.deepEqual(long.end(), { events: [], problem: 'event_units_max' });
});

test('an event that is too long, and bytes that are no UTF-8, end the stream', () => {
  const long = createSseReader({ event_units_max: 10 });
  assert.deepEqual(long.read('data: 12\n\ndata:').problem, null);
  assert.equal(long.read('123456').problem, 'event_units_max');
  assert.deepEqual(long.read('\n\n'), { events: [], problem: 'event_units_max' });
  const bytes = createSseReader(LIMITS);
  assert.equal(bytes.read(Uint8Array.of(0x64, 0xff)).problem, 'utf8');
  const half = createSseReader(LIMITS);
  assert.equal(half.read(Uint8Array.of(0xc3)).problem, null);
  assert.equal(half.end().problem, 'utf8');
});

test('an event keeps all but its data where it is given other data', () => {
  const [event] = readAll(['id: 7\nevent: delta\ndata: {"a":1}\n: note\n\n']);
  assert.equal(replaceData(event!, '{"a":2}'), 'id: 7\nevent: delta\ndata: {"a":2}\n: note\n\n');
  const [lines] = readAll(['event: delta\ndata: {"a":\ndata: 1}\n\n']);
  assert.equal(replaceData(lines!, '{"a":\n2}'), 'event: delta\ndata: {"a": 2}\n\n');
});

test('an event is written with its name and its data alone, on lines that every reader cuts in the same way', () => {
  assert.equal(writeSseEvent('', 'a'), 'data: a\n\n');
  assert.equal(writeSseEvent('delta', '{"a":1}'), 'event: delta\ndata: {"a":1}\n\n');
  assert.equal(writeSseEvent('delta', '{"a":\r\n1}'), 'event: delta\ndata: {"a":  1}\n\n');
  const breaks = ['\u2028', '\u2029', '\u0085'];
  for (const each of breaks) {
    const data = `{"a":"b${each}data: c"}`;
    const written = writeSseEvent('', data);
    assert.ok(!written.includes(each));
    assert.deepEqual(JSON.parse(readAll([written])[0]!.data), JSON.parse(data));
  }
  for (const none of ['', ' ', '\n']) assert.equal(writeSseEvent('ping', none), ':\n\n');
});

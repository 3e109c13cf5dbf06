import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseJsonTree } from '../../json/json-tree.ts';
import type { JsonNode } from '../../types/json.ts';
import { wireSamples } from '../testing/samples.ts';
import type { EventParts, SseEvent, WireAnswer, WireFormat, WireRequest } from '../wire-format.ts';
import { wireFormats } from './index.ts';

/** A text that is neither a word of any protocol nor binary data. */
const MARK = 'not a word, this';
const LIMITS = { depth_max: 100, nodes_max: 100_000 };

type Range = readonly [start: number, end: number];
const getRange = ({ start, end }: { start: number; end: number }): Range => [start, end];

/** Returns the ranges of a request that are judged, or removed in any case. */
function listRequestRanges(request: WireRequest): Range[] {
  return [
    ...request.texts.map((each) => each.node),
    ...request.tool_results.flatMap((each) => each.texts),
    ...request.repairs,
  ].map(getRange);
}

/** Returns the ranges of an answer that are judged, or removed together with judged text. */
function listAnswerRanges({ texts, tool_calls, echoes }: WireAnswer): Range[] {
  return [...texts, ...tool_calls.map((each) => each.arguments), ...echoes.map((each) => each.splice)].map(
    getRange,
  );
}

/**
 * Returns the ranges of an event that are judged, removed together with judged text, or replaced in any case.
 */
function listEventRanges({ pieces, repeats, echoes, repairs }: EventParts): Range[] {
  return [
    ...repairs,
    ...pieces.map((each) => each.node),
    ...repeats.map((each) => each.node),
    ...echoes.map((each) => each.splice),
  ].map(getRange);
}

/**
 * Yields the text with one change that could carry a message: in a value, a key, a new member or a new form.
 */
function* getChanges(text: string, node: JsonNode): Generator<string> {
  const put = ({ start, end }: { start: number; end: number }, other: string) =>
    text.slice(0, start) + other + text.slice(end);
  const mark = JSON.stringify(MARK);
  yield put(node, mark);
  yield put(node, `[${mark}]`);
  yield put(node, `{"unheard of":${mark}}`);
  yield put(node, `[{"type":"tomorrow","text":${mark}}]`);
  if (node.kind === 'array') {
    yield put({ start: node.start + 1, end: node.start + 1 }, node.items.length > 0 ? `${mark},` : mark);
    for (const each of node.items) yield* getChanges(text, each);
  }
  if (node.kind !== 'object') return;
  const comma = node.members.length > 0 ? ',' : '';
  for (const member of [`"new":${mark}`, `${mark}:1`, `"new":{"id":${mark}}`, `"new":[[${mark}]]`]) {
    yield put({ start: node.end - 1, end: node.end - 1 }, comma + member);
  }
  for (const { key, value } of node.members) {
    yield put(key, mark);
    yield put({ start: value.end, end: value.end }, `,${text.slice(key.start, key.end)}:${mark}`);
    yield put({ start: key.start, end: key.start }, `${text.slice(key.start, key.end)}:${mark},`);
    yield* getChanges(text, value);
  }
}

function parse(text: string): JsonNode {
  const node = parseJsonTree(text, LIMITS);
  assert.notEqual(node.kind, 'problem', text);
  return node as JsonNode;
}

/** Checks that every mark in the text lies in one of the ranges, and that no two ranges overlap. */
function check(text: string, ranges: readonly Range[], exempt: readonly Range[] = []): void {
  for (let at = text.indexOf(MARK); at !== -1; at = text.indexOf(MARK, at + 1)) {
    if ([...ranges, ...exempt].some(([start, end]) => start <= at && at < end)) continue;
    assert.fail(`nobody judges this: ${text.slice(Math.max(0, at - 150), at + MARK.length + 40)}`);
  }
  const sorted = ranges.toSorted((one, other) => one[0] - other[0] || one[1] - other[1]);
  for (let index = 1; index < sorted.length; index++) {
    const [start, end] = sorted[index]!;
    assert.ok(
      start >= sorted[index - 1]![1],
      `judged twice: ${text.slice(Math.max(0, start - 150), end + 20)}`,
    );
  }
}

function getEvent(data: string): SseEvent {
  return { raw: `data: ${data}\n\n`, name: '', data, data_start: 6 };
}

function getSample(format: WireFormat) {
  const sample = wireSamples.find((each) => each.format === format.name);
  assert.ok(sample, format.name);
  return sample;
}

test('whatever is put anywhere into a request is judged', () => {
  const cases = new Map<string, number>();
  for (const format of wireFormats) {
    for (const body of getSample(format).requests) {
      const text = JSON.stringify(body);
      check(text, listRequestRanges(format.readRequest(parse(text))));
      for (const changed of getChanges(text, parse(text))) {
        check(changed, listRequestRanges(format.readRequest(parse(changed))));
        cases.set(format.name, (cases.get(format.name) ?? 0) + 1);
      }
    }
  }
  assert.equal(cases.size, wireFormats.length);
  const all = [...cases.values()].reduce((sum, each) => sum + each, 0);
  assert.ok(all > 8000, `${all} cases`);
});

test('whatever is put anywhere into an answer is judged', () => {
  let cases = 0;
  let refused = 0;
  for (const format of wireFormats) {
    for (const body of getSample(format).answers) {
      const text = JSON.stringify(body);
      for (const changed of getChanges(text, parse(text))) {
        const body = parse(changed);
        const answer = format.readAnswer(body);
        if (answer !== null) check(changed, listAnswerRanges(answer));
        if (answer === null) refused += 1;
        else cases += 1;
      }
    }
  }
  assert.ok(cases > 2500 && refused > 800, `${cases} cases, ${refused} refused`);
});

test('whatever is put anywhere into an event is judged, or ends the stream', () => {
  let cases = 0;
  for (const format of wireFormats) {
    for (const stream of getSample(format).streams) {
      stream.forEach((event, at) => {
        const text = JSON.stringify(event);
        for (const changed of getChanges(text, parse(text))) {
          const reader = format.openEvents();
          for (const before of stream.slice(0, at))
            assert.notEqual(reader.read(getEvent(JSON.stringify(before))), null);
          const parts = reader.read(getEvent(changed));
          if (parts !== null) check(changed, listEventRanges(parts));
          cases += 1;
        }
      });
    }
  }
  assert.ok(cases > 10_000, `${cases} cases`);
});

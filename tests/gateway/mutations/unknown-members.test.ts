/**
 * Members that a format does not define come through a stream as they came, and a secret in them does not, whole or
 * split over events. `MUTATIONS` sets the number of answers per format, `MUTATIONS_SEED` the first seed.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildTestPolicy } from '../../../src/core/testing/policies.ts';
import { openAnswerHarness } from '../../../src/gateways/llm/testing/answer-harness.ts';
import { type Baseline, baselines, type Tree } from './baselines.ts';
import { getRandom, SECRET, UNKNOWN } from './mutate.ts';

const COUNT = Number(process.env.MUTATIONS ?? 100);
const SEED = Number(process.env.MUTATIONS_SEED ?? 1);
const POLICY = buildTestPolicy();
const streams = baselines.filter(({ is_stream }) => is_stream);

type Holder = Extract<Tree, { object: unknown }>;

/** Lists the objects of an answer's events in which a server may put its own members. */
function listHolders(tree: Tree | '[DONE]'): readonly Holder[] {
  if (Array.isArray(tree)) return tree.flatMap(listHolders);
  if (typeof tree !== 'object' || tree === null) return [];
  const inner = tree.object.flatMap(([key, value]) => (OMITTED.has(key) ? [] : listHolders(value)));
  return [tree, ...inner];
}

/** Members whose content the author of a call defines, and usage, which events that continue a text repeat. */
const OMITTED = new Set(['args', 'input', 'usage', 'usageMetadata']);

function write(tree: Tree): string {
  if (Array.isArray(tree)) return `[${tree.map(write).join(',')}]`;
  if (typeof tree !== 'object' || tree === null) return JSON.stringify(tree);
  return `{${tree.object.map(([key, value]) => `${JSON.stringify(key)}:${write(value)}`).join(',')}}`;
}

function writeEvent({ name, data }: Baseline['events'][number]): string {
  const text = data === '[DONE]' ? data : write(data);
  return `${name === '' ? '' : `event: ${name}\n`}data: ${text}\n\n`;
}

/** Returns the members of all events whose names begin with `x_`, each as JSON text, in order. */
function listAdded(body: string): readonly string[] {
  const found: string[] = [];
  for (const line of body.split('\n')) {
    if (!line.startsWith('data: {')) continue;
    JSON.parse(line.slice(6), (key, value: unknown) => {
      if (key.startsWith('x_')) found.push(`${key}: ${JSON.stringify(value)}`);
      return value;
    });
  }
  return found.sort();
}

interface Planted {
  readonly body: string;
  readonly is_dirty: boolean;
}

function plant({ events }: Baseline, random: () => number): Planted {
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)]!;
  const copies = structuredClone(events);
  const holders = copies.map(({ data }) => listHolders(data));
  const kind = pick(['clean', 'value', 'name', 'split'] as const);
  const count = 1 + Math.floor(random() * 4);
  const put = (holder: Holder, name: string, value: Tree) =>
    holder.object.splice(pick([0, 1, holder.object.length]), 0, [name, value]);
  for (let at = 0; at < count; at++) put(pick(holders.flat()), `x_${at}`, structuredClone(pick(UNKNOWN)));
  if (kind === 'value') put(pick(holders.flat()), 'x_secret', pick([SECRET, [SECRET], ` ${SECRET} `]));
  if (kind === 'name') put(pick(holders.flat()), `x_ ${SECRET}`, pick(UNKNOWN));
  if (kind === 'split') {
    // The same object of two events in a row, such as the delta.
    const shapeOf = (all: readonly Holder[] = []) =>
      all.map(({ object }) => object.map(([key]) => key).join());
    const same = holders.flatMap((one, at) => {
      const next = holders[at + 1] ?? [];
      const isSame = one.length > 0 && shapeOf(one).join(';') === shapeOf(next).join(';');
      return isSame ? [[one, next] as const] : [];
    });
    if (same.length === 0) return { body: copies.map(writeEvent).join(''), is_dirty: false };
    const [one, next] = pick(same);
    const place = Math.floor(random() * one.length);
    const cut = pick([2, 8, 16]);
    put(one[place]!, 'x_split', SECRET.slice(0, cut));
    put(next[place]!, 'x_split', SECRET.slice(cut));
  }
  return { body: copies.map(writeEvent).join(''), is_dirty: kind !== 'clean' };
}

function joinSplit(body: string): string {
  return listSplit(body).join('');
}

function listSplit(body: string): readonly string[] {
  return [...body.matchAll(/"x_split":"([^"]*)"/g)].map(([, part]) => part!);
}

for (const [at, baseline] of streams.entries()) {
  test(`${baseline.wire}: members of servers come through, and secrets in them do not`, async () => {
    const { answer } = await openAnswerHarness({ wire: baseline.wire, policy: POLICY });
    let clean = 0;
    let dirty = 0;
    for (let number = 0; number < COUNT; number++) {
      const { body, is_dirty } = plant(baseline, getRandom((SEED + at) * 1_000_003 + number));
      const came = await answer([body]);
      const about = `number ${number}\n${body}\n--- went out as\n${came.body}`;
      assert.ok(!came.body.includes(SECRET) && !joinSplit(came.body).includes(SECRET), about);
      const isPassed = !came.body.includes('policy_violation');
      const names = (text: string) => listAdded(text).map((each) => each.split(':')[0]!.split(' ')[0]);
      if (is_dirty && isPassed) assert.deepEqual(names(came.body), names(body), about);
      if (!is_dirty) assert.deepEqual(listAdded(came.body), listAdded(body), about);
      if (is_dirty) dirty += 1;
      else clean += 1;
    }
    assert.ok(clean > COUNT / 8 && dirty > COUNT / 8, `${clean} clean and ${dirty} dirty answers`);
  });
}

test('every format that streams is here', () => {
  assert.deepEqual(new Set(streams.map(({ wire }) => wire)).size, streams.length);
  assert.ok(streams.length >= 4);
});

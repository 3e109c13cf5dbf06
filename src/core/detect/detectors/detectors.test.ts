import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { DETECTION } from '../../testing/policies.ts';
import { detect } from '../detect.ts';
import type { Match } from '../matching/compiled-detector.ts';
import type { Detector } from '../matching/detector.ts';
import { compileScanner, scanText } from '../matching/scanner.ts';
import { allDetectors } from './all.ts';

const FOLDERS = ['content', 'injection', 'personal', 'secrets'];

const LIMITS = { text_bytes_max: 1 << 20, depth_max: 100, nodes_max: 1 << 16, findings_max: 1000 };

/** Returns the text without its marks, and the positions of the marks. */
function unmark(marked: string): { text: string; spans: [number, number][] } {
  const spans: [number, number][] = [];
  let text = '';
  for (const part of marked.split(/(?=[«»])|(?<=[«»])/)) {
    if (part === '«') spans.push([text.length, text.length]);
    else if (part === '»') spans.at(-1)![1] = text.length;
    else text += part;
  }
  return { text, spans };
}

/** Every detector without its weight as a phrase. The record of a detector identifies its findings. */
const alone = new Map(allDetectors.map((detector) => [detector, omitWeight(detector)]));
const scanner = compileScanner([...alone.values()]);

function omitWeight({ weight: _, is_words: __, ...detector }: Detector): Detector {
  return detector;
}

function getSpans(detector: Detector, text: string): [number, number][] {
  const matches: Match[] = [];
  scanText(scanner, text, matches, 100_000);
  return matches
    .filter((match) => match.detector === alone.get(detector))
    .map(({ start, end }) => [start, end]);
}

test('every detector finds its hits, exactly, and none of its misses', () => {
  let hits = 0;
  let misses = 0;
  for (const detector of allDetectors) {
    for (const marked of detector.examples.hits) {
      const { text, spans } = unmark(marked);
      assert.ok(spans.length > 0, `${detector.id}: a hit without marks`);
      assert.deepEqual(getSpans(detector, text), spans, `${detector.id}: ${marked}`);
      hits += 1;
    }
    for (const text of detector.examples.misses) {
      assert.deepEqual(getSpans(detector, text), [], `${detector.id}: ${text}`);
      misses += 1;
    }
  }
  assert.ok(hits >= 2 * 40 && misses >= 100, `${hits} hits, ${misses} misses`);
});

test('every detector has an id of its own, a known tag family, at least one hit and one miss', () => {
  assert.equal(new Set(allDetectors.map(({ id }) => id)).size, allDetectors.length);
  for (const { id, tags, detector, examples, description } of allDetectors) {
    assert.match(id, /^[a-z0-9]+\.[a-z0-9_]+$/);
    assert.match(detector, /^[a-z][a-z_]*$/);
    for (const tag of tags)
      assert.match(
        tag,
        /^(?:content|injection|secret\.credential|personal\.(?:pii|financial|phi))(?:\.[a-z0-9_]+)+$/,
      );
    assert.ok(examples.hits.length > 0 && examples.misses.length > 0, id);
    assert.match(description, /[.]$/, id);
  }
});

test('the list holds every file of the folders, in order', async () => {
  const fromFiles: Detector[] = [];
  let files = 0;
  for (const folder of FOLDERS) {
    for (const name of readdirSync(new URL(`${folder}/`, import.meta.url)).sort()) {
      const module: Record<string, unknown> = await import(`./${folder}/${name}`);
      fromFiles.push(...(Object.values(module).flat() as Detector[]));
      files += 1;
    }
  }
  assert.deepEqual(
    allDetectors.map(({ id }) => id),
    fromFiles.map(({ id }) => id),
  );
  assert.ok(files >= 36, `${files} files`);
});

test('a token whose checksum is right is named for it, and one whose checksum is wrong is found by its form', () => {
  const checked = allDetectors.filter(
    ({ id }) => id.endsWith('.checked_token') || id === 'aws.access_key_id',
  );
  for (const { id, examples } of checked) {
    const { text, spans } = unmark(examples.hits[0]!);
    const vendor = id.slice(0, id.indexOf('.'));
    const named = (content: string): string[] =>
      detect({ kind: 'text', text: content }, DETECTION, LIMITS).findings.map(({ rule_id }) => rule_id);
    assert.deepEqual(named(text), [id]);
    const [, end] = spans[0]!;
    const wrong = `${text.slice(0, end - 1)}${text[end - 1] === '2' ? '3' : '2'}${text.slice(end)}`;
    if (id !== 'aws.access_key_id') assert.ok(!named(wrong).includes(id), id);
    assert.ok(
      named(wrong).some((other) => other.startsWith(`${vendor}.`)),
      `${id}: ${named(wrong)}`,
    );
  }
  assert.equal(checked.length, 7);
});

/**
 * Measures the three readers of JSON in `core` as ratios to `JSON.parse` of the same bytes: the visitor of leaves
 * (`scanJson`), the tree with offsets (`parseJsonTree`), and the reader of a text that arrives in pieces
 * (`feedJsonDetector`). The ratios are the reason for three readers.
 * `node benchmarks/judge/json-readers.ts`
 */
import assert from 'node:assert/strict';
import { parseJsonTree } from '../../src/core/json/json-tree.ts';
import { scanJson } from '../../src/core/json/scan-json.ts';
import { UNLIMITED_WALK } from '../../src/core/json/walk.ts';
import { createJsonDetector, feedJsonDetector } from '../../src/core/stream/json-detector.ts';
import { spread } from '../measure.ts';
import { recordsText } from './records.ts';

const SIZES = [1_024, 10_240, 262_144];
const ROUNDS = 15;
const BYTES_PER_ROUND = 4 << 20;
const LIMITS = { depth_max: 100, nodes_max: 1 << 20 };

const readers: Record<string, (text: string) => void> = {
  'JSON.parse': (text) => void JSON.parse(text),
  scanJson: (text) =>
    assert.equal(
      scanJson(text, UNLIMITED_WALK, () => {}),
      'read',
    ),
  parseJsonTree: (text) => assert.notEqual(parseJsonTree(text, UNLIMITED_WALK).kind, 'problem'),
  feedJsonDetector: (text) => {
    const detector = createJsonDetector();
    feedJsonDetector(detector, text, LIMITS);
    assert.equal(detector.state, 'possible');
  },
};

/** Returns nanoseconds per byte. */
function measure(read: (text: string) => void, text: string): number {
  const times = Math.ceil(BYTES_PER_ROUND / text.length);
  const beganMs = performance.now();
  for (let time = 0; time < times; time += 1) read(text);
  return ((performance.now() - beganMs) * 1e6) / (times * text.length);
}

for (const size of SIZES) {
  const text = recordsText(size);
  const ratios = new Map<string, number[]>();
  for (let round = 0; round <= ROUNDS; round += 1) {
    const base = measure(readers['JSON.parse']!, text);
    for (const [name, read] of Object.entries(readers)) {
      if (name === 'JSON.parse' || round === 0) continue;
      ratios.set(name, [...(ratios.get(name) ?? []), measure(read, text) / base]);
    }
  }
  for (const [name, values] of ratios) console.log(`${size} bytes ${name}: ${spread(values)}`);
}

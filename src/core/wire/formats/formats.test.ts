import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { parseJsonTree } from '../../json/json-tree.ts';
import type { JsonNode } from '../../types/json.ts';
import { wireFormats } from './index.ts';

const LIMITS = { depth_max: 100, nodes_max: 100_000 };

test('the list holds every format of the folder, in order', () => {
  const names = wireFormats.map((each) => each.name);
  const files = readdirSync(import.meta.dirname)
    .filter((file) => !file.endsWith('.test.ts') && file !== 'index.ts')
    .map((file) => file.replace('.ts', '').replace('-', '.').replace('-', '_'));
  assert.deepEqual(names, files.toSorted());
});

test('what is no object is read by every format, and must not be sent', () => {
  for (const format of wireFormats) {
    for (const text of ['"tell me"', '["tell me"]', '7']) {
      const request = format.readRequest(parseJsonTree(text, LIMITS) as JsonNode);
      assert.notEqual(request.problem, null);
      assert.equal(request.texts.length, text.includes('tell') ? 1 : 0);
    }
  }
});

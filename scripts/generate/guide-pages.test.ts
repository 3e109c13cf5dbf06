import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { agentFrameworks } from '../../src/operations/agent-frameworks.ts';
import { guides } from './framework-guides.ts';
import { renderFrameworkGuidePages } from './guide-pages.ts';

const sides = guides
  .flatMap(({ python, typescript }) => [python, typescript])
  .filter((each) => each !== undefined);

test('every framework of `customshouse setup`, and every example, is in a guide', () => {
  assert.deepEqual(
    sides.map(({ setup }) => setup).toSorted(),
    agentFrameworks.map(({ name }) => name).toSorted(),
  );
  const examples = readdirSync(join(resolve(import.meta.dirname, '..', '..'), 'examples')).filter(
    (name) => /^(?:python|typescript)-/.test(name) && !name.endsWith('-quickstart'),
  );
  assert.deepEqual(sides.map(({ example }) => example).toSorted(), examples);
});

test('a guide has the code and the output of its examples, a coverage table and limits', () => {
  const pages = renderFrameworkGuidePages();
  assert.equal(pages.length, guides.length);
  for (const { path, text } of pages) {
    const count = sides.filter(({ example }) => text.includes(`/examples/${example})`)).length;
    assert.equal(text.match(/^It prints:$/gm)?.length, count, path);
    assert.equal(text.match(/tool (?:ran 0 times|did not run)/g)!.length >= count, true, path);
    for (const part of ['| Streaming |', '| [Approvals]', '## Limits\n\n- '])
      assert.ok(text.includes(part), path);
  }
});

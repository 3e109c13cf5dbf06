/** The adapters of the Python package, with the frameworks that install in seconds. The others: `npm run test:frameworks`. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { buildPythonCore } from '../../../scripts/build/python.ts';
import { locateComponent } from '../../../scripts/components/components.ts';
import { isNightly, sampleRows } from '../../support/nightly.ts';
import { runPython } from '../run-python.ts';
import { openStage, type PythonFramework, playPython, type Stage } from './play.ts';

const python = locateComponent('frameworks-python');
const skip =
  python === null &&
  'frameworks-python is not installed (scripts/run scripts/components/main.ts frameworks-python)';
const SCENES = 31;
/** The scenes of each further way to ask an agent. */
const SCENES_OF_A_WAY = 10;
let stage: Stage;
before(async () => {
  if (python === null) return;
  await buildPythonCore();
  stage = await openStage();
});
after(() => stage?.stop());

const LIGHT: readonly PythonFramework[] = [
  { name: 'ag2', ways: ['stream', 'interrupter', 'run', 'enqueue'] },
  { name: 'autogen' },
  { name: 'langchain', ways: ['asynchronous', 'stream', 'async_stream', 'events'] },
  {
    name: 'langgraph',
    ways: ['asynchronous', 'stream', 'runnable_stream', 'async_stream', 'async_runnable_stream', 'events'],
  },
  { name: 'llamaindex', ways: ['events', 'workflow'] },
  { name: 'openai_agents', ways: ['stream', 'provider_stream', 'config_stream'] },
  { name: 'pydantic_ai', ways: ['stream', 'events'] },
  { name: 'strands', ways: ['stream', 'handler'] },
];
/** The frameworks in each round: the one that most agents use. The test for other ways runs all adapters. */
const SAMPLES = ['langchain'];

// Two at a time, because each framework is one process that computes.
describe('adapters', { concurrency: 2 }, () => {
  for (const framework of isNightly ? LIGHT : LIGHT.filter(({ name }) => SAMPLES.includes(name)))
    test(`an agent of ${framework.name} is guarded by its adapter`, { skip, timeout: 300_000 }, async () => {
      const ways = sampleRows(framework.ways ?? [], 4);
      const expected = SCENES + SCENES_OF_A_WAY * ways.length;
      assert.equal(await playPython(python!, { ...framework, ways }, stage), expected);
    });

  test('no text passes an adapter by another way', { skip, timeout: 300_000 }, async () => {
    const ran = await runPython(python!, [join(import.meta.dirname, 'ways.py')]);
    assert.equal(ran.code, 0, ran.stderr);
    assert.equal(ran.stdout, '8 ways\n');
  });
});

/** The adapters of the Python package, with the frameworks that install in seconds. The others: `npm run test:frameworks`. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { buildPythonCore } from '../../../scripts/build/python.ts';
import { locate } from '../../../scripts/components/components.ts';
import { openStage, type PythonFramework, playPython, type Stage } from './play.ts';

const python = locate('frameworks-python');
const skip =
  python === null &&
  'frameworks-python is not installed (scripts/run scripts/components/main.ts frameworks-python)';
const SCENES = 23;
/** The scenes of each further way to ask an agent. */
const SCENES_OF_A_WAY = 6;
let stage: Stage;
before(async () => {
  if (python === null) return;
  await buildPythonCore();
  stage = await openStage();
});
after(() => stage?.stop());

const LIGHT: readonly PythonFramework[] = [
  { name: 'ag2' },
  { name: 'autogen' },
  { name: 'langchain', ways: ['asynchronous', 'stream', 'async_stream'] },
  { name: 'langgraph' },
  { name: 'llamaindex' },
  { name: 'openai_agents' },
  { name: 'pydantic_ai', ways: ['stream', 'events'] },
  { name: 'strands', ways: ['stream', 'handler'] },
];
for (const framework of LIGHT)
  test(`an agent of ${framework.name} is guarded by its adapter`, { skip, timeout: 300_000 }, async () => {
    const expected = SCENES + SCENES_OF_A_WAY * (framework.ways?.length ?? 0);
    assert.equal(await playPython(python!, framework, stage), expected);
  });

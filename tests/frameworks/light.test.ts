/** The adapters of the SDK with the frameworks that install in seconds. `npm run test:frameworks` runs all. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { locateComponent } from '../../scripts/components/components.ts';
import { ownNodeEnvironment, root, runProgram } from '../support/checkout.ts';
import { isNightly, sampleRows } from '../support/nightly.ts';
import type { TestService } from '../support/service.ts';
import { runExample } from './examples.ts';
import { type Driver, playDriver, startScenesService } from './play.ts';

const missing =
  locateComponent('frameworks-node') === null &&
  'frameworks-node is not installed (scripts/run scripts/components/main.ts frameworks-node)';

const REFUSED = 'A secret was found in a tool call or message.';
const drivers: Readonly<Record<string, Driver>> = {
  LangChain: { file: 'light/langchain.ts', streams: true, raises: 'MiddlewareError: BlockedError' },
  LangGraph: { file: 'light/langgraph.ts', streams: true },
  'the MCP TypeScript SDK': {
    file: 'light/mcp.ts',
    streams: false,
    // A prompt of a server is requested with arguments, in which built-in rules mask nothing.
    differs: {
      input_blocked: [null, [], null, null, REFUSED],
      input_masked: [
        `My social security number is ${['536', '22', '8145'].join('-')}.`,
        [],
        null,
        'Noted.',
        null,
      ],
    },
  },
  'the AI SDK of Vercel': { file: 'light/vercel-ai.ts', streams: true },
  'the OpenAI Agents SDK': {
    file: 'light/openai-agents.ts',
    streams: true,
    // The SDK's guardrails raise this error in the scene of a blocked prompt.
    raises: 'InputGuardrailTripwireTriggered',
  },
};

let service: TestService;
before(async () => {
  if (missing === false) service = await startScenesService();
});
after(() => service?.stop());

/** A LangGraph agent has LangChain's middleware. */
const SAMPLES = Object.entries(drivers).filter(([name]) => isNightly || name !== 'LangGraph');

for (const [name, driver] of SAMPLES)
  test(`an agent of ${name} is guarded`, { skip: missing, timeout: 300_000 }, () =>
    playDriver(driver, service),
  );

const WAYS = [
  ['LangChain', 'langchain-ways.ts', 11],
  ['the MCP TypeScript SDK', 'mcp-ways.ts', 4],
  ['the OpenAI Agents SDK', 'openai-ways.ts', 4],
  ['the AI SDK of Vercel', 'vercel-ways.ts', 7],
] as const;

for (const [name, file, count] of WAYS)
  test(`no text of ${name} passes the guard by another way`, { skip: missing }, async () => {
    const path = join(import.meta.dirname, 'light', file);
    const ran = await runProgram([process.execPath, path], { env: ownNodeEnvironment({}) });
    assert.equal(ran.code, 0, ran.stderr);
    assert.equal(ran.stdout, `${count} ways\n`);
  });

const EXAMPLES = ['quickstart', 'langgraph', 'mcp', 'openai-agents', 'langchain', 'vercel-ai'];

for (const name of sampleRows(EXAMPLES, EXAMPLES.length))
  test(`the example typescript-${name} blocks a secret`, { skip: missing }, () =>
    runExample(name, join(root, 'tests/frameworks/light/node_modules')),
  );

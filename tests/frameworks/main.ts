/**
 * `npm run test:frameworks`: the adapters of the SDK with all frameworks. It installs the large ones, which takes some
 * minutes and 700 MB.
 */
import { join } from 'node:path';
import { findNpmProgram, installFromNpm } from '../../scripts/components/npm.ts';
import { root } from '../support/checkout.ts';
import { runExample } from './examples.ts';
import { type Driver, playDriver, startScenesService } from './play.ts';

const FOLDER = 'tests/frameworks/heavy';
const CALL = 'A secret was found in a tool call or message.';
const INPUT = 'Blocked by the rule builtin.secret.input: A secret was found in input. Do not try again.';

const drivers: Readonly<Record<string, Driver & { readonly example: string }>> = {
  'Claude Agent SDK': {
    example: 'claude-agent-sdk',
    file: 'heavy/claude-agent-sdk.ts',
    streams: false,
    raises: null,
    // The program keeps the conversation, and no hook can change it.
    keeps: ['messages'],
    // A hook cannot change a prompt.
    differs: {
      input_masked: [null, [], null, null, 'cannot take a changed prompt'],
      call_blocked: ['Look it up.', [], CALL, 'I could not.', null],
    },
  },
  'LlamaIndex.TS': {
    example: 'llamaindex',
    file: 'heavy/llamaindex.ts',
    streams: true,
    raises: null,
    differs: { input_blocked: [null, [], null, INPUT, null] },
  },
  Mastra: { example: 'mastra', file: 'heavy/mastra.ts', streams: true },
};

if (findNpmProgram(FOLDER, 'node-which') === null && !installFromNpm(FOLDER))
  throw new Error(`${FOLDER} cannot be installed.`);
const service = await startScenesService();
const wanted = process.argv.slice(2);
let failed = 0;
for (const [name, driver] of Object.entries(drivers)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  try {
    await playDriver(driver, service);
    await runExample(driver.example, join(root, FOLDER, 'node_modules'));
    console.log(`ok      ${name}`);
  } catch (error) {
    failed += 1;
    console.log(`FAILED  ${name}`, error instanceof Error ? error.message : error);
  }
}
await service.stop();
process.exitCode = failed > 0 ? 1 : 0;

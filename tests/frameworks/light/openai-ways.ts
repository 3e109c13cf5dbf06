/** Ways in which text of a model could pass the guard of the OpenAI Agents SDK. Ends with 0 if none does. */
import assert from 'node:assert/strict';
import {
  Agent,
  applyPatchTool,
  handoff,
  type Model,
  run,
  setTracingDisabled,
  shellTool,
  Usage,
} from '@openai/agents';
import { z } from 'zod';
import { guardOpenAIModel, guardOpenAITools } from '../../../src/sdk/adapters/openai-agents.ts';
import { createEmbeddedGuard } from '../../../src/sdk/index.ts';
import { tryWays, type Ways } from '../ways.ts';

setTracingDisabled(true);
const KEY = ['sk-', 'ABCDEF1234567890'].join('');
const ADDRESS = `postgresql://${'admin:p4ssw0rd'}@db.internal:5432/prod`;
const guard = createEmbeddedGuard();
const DONE = {
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: 'Done.' }],
};

/** Returns a guarded model that gives these items one after the other, and its inputs. */
function answerWith(...items: readonly object[]): { model: Model; asked: string[] } {
  const asked: string[] = [];
  const model = {
    getResponse: async ({ input }: { input: unknown }) => {
      asked.push(JSON.stringify(input));
      return { usage: new Usage(), output: [items[Math.min(asked.length, items.length) - 1]] };
    },
  } as unknown as Model;
  return { model: guardOpenAIModel(model, guard), asked };
}

const callShell = (command: string) => ({
  type: 'shell_call',
  callId: 's1',
  status: 'completed',
  action: { commands: [command] },
});

const ways: Ways = {
  'a shell on this machine': async () => {
    const use = async (command: string) => {
      const ran: string[] = [];
      const shell = shellTool({
        shell: {
          run: async ({ commands }) => {
            ran.push(...commands);
            const outcome = { type: 'exit', exitCode: 0 } as const;
            return { output: [{ stdout: ADDRESS, stderr: '', outcome }] };
          },
        },
      });
      const { model, asked } = answerWith(callShell(command), DONE);
      await run(new Agent({ name: 'helper', model, tools: guardOpenAITools([shell], guard) }), 'hello');
      assert.ok(!asked.at(-1)?.includes('p4ssw0rd'));
      return ran;
    };
    assert.deepEqual(await use(`echo ${KEY}`), []);
    assert.deepEqual(await use('echo hello'), ['echo hello']);
  },
  'an editor on this machine': async () => {
    const edit = async (diff: string) => {
      const diffs: string[] = [];
      const createFile = async (operation: { diff: string }) => void diffs.push(operation.diff);
      const editor = { createFile, updateFile: createFile, deleteFile: async () => {} };
      const operation = { type: 'create_file', path: 'note.txt', diff };
      const call = { type: 'apply_patch_call', callId: 'p1', status: 'completed', operation };
      const tools = guardOpenAITools([applyPatchTool({ editor })], guard);
      await run(new Agent({ name: 'helper', model: answerWith(call, DONE).model, tools }), 'hello');
      return diffs;
    };
    assert.deepEqual(await edit(`+${KEY}`), []);
    assert.deepEqual(await edit('+hello'), ['+hello']);
  },
  'what one agent hands over to another': async () => {
    const hand = async (why: string) => {
      const received: unknown[] = [];
      const next = new Agent({ name: 'next', model: answerWith(DONE).model });
      const handoffs = [
        handoff(next, {
          inputType: z.object({ why: z.string() }),
          onHandoff: (_, input) => void received.push(input?.why),
        }),
      ];
      const call = {
        type: 'function_call',
        callId: 'c1',
        name: 'transfer_to_next',
        status: 'completed',
        arguments: JSON.stringify({ why }),
      };
      const agent = new Agent({ name: 'helper', model: answerWith(call).model, handoffs });
      await run(agent, 'hello').catch((error: Error) => received.push(error.message));
      return received;
    };
    assert.deepEqual(await hand(KEY), ['A secret was found in a tool call or message.']);
    assert.deepEqual(await hand('a question'), ['a question']);
  },
  'a file of text': async () => {
    const ask = (text: string) => {
      const file = `data:text/plain;base64,${Buffer.from(text).toString('base64')}`;
      const item = { role: 'user' as const, content: [{ type: 'input_file' as const, file }] };
      return run(new Agent({ name: 'helper', model: answerWith(DONE).model }), [item]);
    };
    await assert.rejects(ask(`Use key ${KEY}`), /secret/);
    assert.equal((await ask('hello')).finalOutput, 'Done.');
  },
};

await tryWays(ways);

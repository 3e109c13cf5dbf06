/** A worker with a guard: V8 without Node. workerd calls `test`, which throws where the guard decides otherwise. */
import {
  BlockedError,
  createClientGuard,
  createEmbeddedGuard,
  guardVercelTools,
  quickstart,
} from './sdk.mjs';

/** Put together here, so that code hosts take the push. */
const SECRET = `Use key sk-${'ABCDEF1234567890'}`;

function equal(found, expected) {
  if (JSON.stringify(found) !== JSON.stringify(expected))
    throw new Error(`${JSON.stringify(found)} is not ${JSON.stringify(expected)}`);
}

export default {
  async test(_controller, { SERVICE_URL }) {
    if (globalThis.process !== undefined) throw new Error('This is a platform with a `process`.');
    const records = [];
    const local = quickstart({ record: (event) => records.push(event) });
    equal((await local.input(SECRET)).decision, 'block');
    equal((await local.output('Mail jane.doe@corp-mail.io now.')).modified_text, 'Mail [REDACTED] now.');
    equal(
      records.map(({ decision }) => decision),
      ['block', 'modify'],
    );
    const strict = createEmbeddedGuard({ policy: { config: { policy: { undeclared_tools: 'block' } } } });
    equal((await strict.tool('look_up', {})).decision, 'block');
    let ran = 0;
    const { pay } = guardVercelTools({ pay: { execute: () => (ran += 1) } }, local, { on_block: 'raise' });
    const error = await pay.execute({ text: SECRET }).catch((each) => each);
    equal([error instanceof BlockedError, ran], [true, 0]);
    const city = { type: 'string', format: 'ipv4' };
    const contract = {
      tool_name: 'look_up',
      accepts: { tags: [] },
      emits: { tags: [] },
      side_effects: { reversible: true, requires_approval: false },
      arguments: { type: 'object', properties: { city } },
    };
    const contracts = [{ file: 'contracts/a.yaml', value: { version: 'v1alpha1', contract } }];
    const checked = createEmbeddedGuard({ policy: { config: {}, documents: contracts } });
    equal((await checked.tool('look_up', { city: 'Rome' })).rule, 'contract.arguments');
    equal((await checked.tool('look_up', { city: '192.0.2.1' })).decision, 'allow');
    const client = createClientGuard({ url: SERVICE_URL });
    equal((await client.input(SECRET)).rule, 'builtin.secret.input');
    equal((await client.tool('look_up', { city: 'Rome' })).decision, 'allow');
    equal((await createClientGuard({ url: 'http://127.0.0.1:9' }).input('x')).rule, 'sdk.unavailable');
  },
};

/** A worker with a guard: V8 without Node. workerd calls `test`, which throws where the guard decides otherwise. */
import { createClientGuard, createEmbeddedGuard, quickstart } from './sdk.mjs';

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
    const client = createClientGuard({ url: SERVICE_URL });
    equal((await client.input(SECRET)).rule, 'builtin.secret.input');
    equal((await client.tool('look_up', { city: 'Rome' })).decision, 'allow');
    equal((await createClientGuard({ url: 'http://127.0.0.1:9' }).input('x')).rule, 'sdk.unavailable');
  },
};

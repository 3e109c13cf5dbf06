import assert from 'node:assert/strict';
import { withStores } from '../../platform/store/testing/stores.ts';
import { enforce } from '../../runtime/enforcement/enforce.ts';
import { buildExampleCrossing } from '../../server/testing/examples.ts';
import { MEMORY_CALLER, MEMORY_NOW_MS, MEMORY_SUBJECT, openTestMemory } from './testing/test-memory.ts';

/** Rules that block mailing web content, and personal data that was read from memory. */
const RULES = [
  {
    name: 'no-mail-after-the-web',
    boundary: 'action',
    action: 'block',
    condition: { tools: ['send_mail'], session_tags: ['untrusted.web'] },
  },
  {
    name: 'no-mail-after-health',
    boundary: 'action',
    action: 'block',
    condition: { tools: ['send_mail'], session_tags: ['personal.phi'] },
  },
];

withStores('memory and sessions', (law) => {
  law('what memory gives out is read by the session, with where it came from', async ({ store }) => {
    const { writeValue, resolveValue, value, ports } = await openTestMemory(store, { rules: RULES });
    const act = async (sessionId: string, parts: object) => {
      const it = buildExampleCrossing('x', {
        boundary: 'action',
        agent_id: MEMORY_SUBJECT.agent_id,
        session_id: sessionId,
        now_ms: MEMORY_NOW_MS,
        ...parts,
      });
      return (await enforce(it, MEMORY_CALLER, 'intercept_tool', ports)).verdict.rule;
    };
    const mail = (sessionId: string) => act(sessionId, { phase: 'request', tool: 'send_mail' });
    await act('reading', { phase: 'response', tool: 'browse', declared_tags: ['untrusted.web'] });
    assert.equal(await mail('reading'), 'no-mail-after-the-web');
    const handle = (await writeValue('motto', 'from a page', { session_id: 'reading' })) as string;
    assert.equal(await value('motto', { session_id: 'other' }), handle);
    assert.equal(await mail('other'), 'default.allow', 'a handle is no value');
    assert.equal(await resolveValue(handle, { session_id: 'other' }), 'from a page');
    assert.equal(await mail('other'), 'no-mail-after-the-web');
    const own = (await writeValue('motto', 'of its own', { session_id: 'clean' })) as string;
    assert.equal(await resolveValue(own, { session_id: 'clean' }), 'of its own');
    assert.equal(await mail('clean'), 'default.allow');
    const health = (await writeValue('health', 'well', { session_id: 'nurse' })) as string;
    assert.equal(await mail('nurse'), 'default.allow', 'what an agent writes it has not read');
    assert.equal(await resolveValue(health, { session_id: 'nurse' }), 'well');
    assert.equal(await mail('nurse'), 'no-mail-after-health');
  });
});

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { listHiddenCharacters } from '../../core/testing/hostile-characters.ts';
import { NO_PRINCIPAL } from '../../core/types/principal.ts';
import { buildAgentKey, openAgentList, writeAgentList } from './agent-list.ts';

test('the kill switch stops a chain with a blocked agent', (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'agent-list-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  writeAgentList(dir, [buildAgentKey('rogue')]);
  const findBlock = openAgentList(dir);
  const names = { agent_id: 'bot', source_agent_id: null, destination_agent_id: null };
  const principal = (chain: readonly string[]) => ({ ...NO_PRINCIPAL, chain });
  assert.notEqual(findBlock({ ...names, principal: principal(['lead', 'ROGUE', 'bot']) }), null);
  assert.equal(findBlock({ ...names, principal: principal(['lead', 'bot']) }), null);
});

test('no spelling of a blocked name passes the kill switch', (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'agent-list-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  writeAgentList(dir, [buildAgentKey('rogue')]);
  const findBlock = openAgentList(dir);
  const names = { agent_id: 'bot', source_agent_id: null, destination_agent_id: null };
  const spelled = [
    ...['rogue', 'ROGUE', ' rogue ', '\uff52ogue', 'r\u0301ogue', 'ro\u0308gue', 'rogue\u20dd'],
    ...listHiddenCharacters()
      .filter((each) => each !== '\u2800')
      .flatMap((each) => [`rogue${each}`, `ro${each}gue`]),
  ];
  for (const agentId of spelled)
    assert.notEqual(findBlock({ ...names, agent_id: agentId }), null, JSON.stringify(agentId));
  for (const agentId of ['rogue2', 'rouge', 'bot', 'ro gue'])
    assert.equal(findBlock({ ...names, agent_id: agentId }), null, agentId);
});

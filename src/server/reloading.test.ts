/** A reload compares the policies, and activates the new one with either result. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildTestPolicy, type PolicyParts } from '../core/testing/policies.ts';
import type { Log, LogFields } from '../platform/log.ts';
import type { AuditEvent } from '../runtime/audit/types.ts';
import { NO_PLUGINS } from '../runtime/plugins/types.ts';
import { openPolicyReloader } from './reloading.ts';

const rule = (name: string, action: string) => ({ name, boundary: 'input', data_tags: ['secret'], action });
const many = (action: string): PolicyParts => ({
  documents: [
    {
      version: 'v1alpha1',
      contracts: Array.from({ length: 60 }, (_unused, at) => ({
        tool_name: `pay_${at}`,
        accepts: { tags: [] },
        emits: { tags: [] },
        side_effects: { reversible: true, requires_approval: false, egress: false },
        ...(action === 'monitor' && { enforcement: 'monitor' }),
      })),
    },
  ],
});

async function reload(before: PolicyParts, after: PolicyParts) {
  const events: AuditEvent[] = [];
  const warned: { message: string; fields: LogFields }[] = [];
  const log: Log = {
    error: (message) => assert.fail(message),
    warn: (message, fields = {}) => warned.push({ message, fields }),
    info: () => {},
    debug: () => {},
    flush: async () => {},
  };
  const [first, next] = [buildTestPolicy(before), buildTestPolicy(after)];
  const used: string[] = [];
  const reloader = openPolicyReloader({
    first,
    plugins: NO_PLUGINS,
    load: async () => ({
      ok: true,
      policy: next,
      plugins: NO_PLUGINS,
      api_keys: [],
      warnings: [],
      secret_readings: [],
    }),
    save: async () => {},
    workers: () => [],
    use: ({ hash }) => used.push(hash),
    useKeys: async () => {},
    journal: { append: async (event) => void events.push(event) },
    now_ms: () => 0,
    log,
  });
  const report = await reloader.reload('watch');
  assert.equal(report.reloaded, true);
  assert.equal(report.policy_hash, next.hash);
  const places = (warned[0]?.fields.places ?? []) as readonly string[];
  return { events, warned, places, used, next };
}

test('a less strict reload warns, records and takes effect', async () => {
  const strict = { rules: [rule('stop', 'block')] };
  const loose = { rules: [rule('stop', 'allow')] };
  const { events, warned, places, used, next } = await reload(strict, loose);
  assert.deepEqual(used, [next.hash]);
  assert.equal(events.length, 1);
  const [{ metadata, reason, decision }] = events as [AuditEvent];
  assert.equal(metadata.weaker_places, places.length);
  assert.match(reason, /less strict than before at \d+ places?\./);
  assert.equal(decision, 'allow');
  assert.match(places.join('\n'), /input, secret.*: block -> allow/);
  assert.match(warned[0]?.message ?? '', /less strict/);

  const stricter = await reload(loose, strict);
  assert.deepEqual(stricter.warned, []);
  assert.equal(stricter.events[0]?.metadata.weaker_places, undefined);
});

test('the log names at most 50 places', async () => {
  const { events, places } = await reload(many('enforce'), many('monitor'));
  assert.equal(places.length, 50);
  assert.equal(events[0]?.metadata.weaker_places, 60);
});

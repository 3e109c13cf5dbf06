// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration's own `${NAME}` is meant.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { ConfigResult } from '../../runtime/policies/load-config.ts';
import { loadConfig } from '../../server/load-config.ts';

let dir = '';
before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'channels-'));
});
after(() => rm(dir, { recursive: true, force: true }));

/** A sample credential, which must not appear in any message. */
const MARKER = 'hunter2marker-5d41';

async function load(channels: readonly string[], env: Record<string, string>): Promise<ConfigResult> {
  const lines = channels.map((channel) => `    - {${channel}}\n`);
  await writeFile(join(dir, 'service.yaml'), `alerts:\n  channels:\n${lines.join('')}`);
  return loadConfig({ path: null, cwd: dir, env });
}

test('what a schema cannot say of alert channels is a problem with its line', async () => {
  const mail = 'type: email, to: [a@b.example], smtp_port: 25, tls: none, username: u, password: "${K}"';
  const result = await load(
    [
      'type: file, path: a',
      'type: file, path: b',
      'type: file, name: c, path: c',
      'type: teams, name: c, url: "${K}"',
      `${mail}, smtp_host: mail.example`,
      `${mail}, smtp_host: 127.0.0.1, name: local`,
      'type: webhook, url: "http://169.254.169.254/"',
      'type: webhook, name: w, url: "http://169.254.169.254/", allow_link_local: true',
      'type: email, name: half, to: [a@b.example], smtp_host: h, smtp_port: 25, username: u',
    ],
    { K: MARKER },
  );
  assert.ok(!result.ok);
  assert.deepEqual(
    result.problems.map(({ line, message }) => `${line}: ${message}`),
    [
      '4: `alerts.channels[1]` has the name of another channel, `file`; set a `name` of its own.',
      '6: `alerts.channels[3].name` has the name of another channel, `c`; set a `name` of its own.',
      '7: `alerts.channels[4].tls` is `none`, so that the password would cross the network in the clear; use `starttls`.',
      '9: `alerts.channels[6].url` is a link-local address, where clouds serve credentials of machines; if it is intended, set `allow_link_local` next to it.',
      '11: `alerts.channels[8]` must have `username` and `password` together, or neither.',
    ],
  );
});

test('paths of files are relative to the configuration, and other channels stay as they are', async () => {
  const result = await load(['type: file, path: alerts.jsonl', 'type: discord, url: "${K}"'], { K: MARKER });
  assert.ok(result.ok, JSON.stringify(result));
  const [first, second] = result.config.alerts.channels;
  assert.equal(first?.type === 'file' && first.path, join(dir, 'alerts.jsonl'));
  assert.equal(second?.type === 'discord' && second.url, MARKER);
});

test('an alert channel over plain HTTP is a warning, except on this machine', async () => {
  const cases: readonly (readonly [string, number])[] = [
    ['type: paging, routing_key: "${K}", base_url: "http://paging.example"', 1],
    ['type: paging, routing_key: "${K}"', 0],
    ['type: incident, api_key: "${K}", region: eu', 0],
    ['type: incident, api_key: "${K}", region: eu, base_url: "http://incident.example"', 1],
    ['type: teams, url: "${PLAIN}"', 1],
    ['type: webhook, url: "http://127.0.0.1:9/"', 0],
    ['type: file, path: alerts.jsonl', 0],
  ];
  for (const [channel, count] of cases) {
    const env = { K: MARKER, PLAIN: `http://chat.example/${MARKER}` };
    const result = await load([channel], env);
    assert.ok(result.ok, JSON.stringify(result));
    const about = result.warnings.filter(({ message }) => /is not `https`: the alerts/.test(message));
    assert.equal(about.length, count, channel);
    assert.ok(!JSON.stringify(result.warnings).includes(MARKER));
  }
});

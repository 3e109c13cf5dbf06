/** The commands of alerts on the real program, with a running service and a channel that writes a file. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { MAIN_FILE } from '../src/entry/cli/testing/main-file.ts';
import { startTestService, type TestService } from './support/service.ts';
import { until } from './support/until.ts';

interface CommandExit {
  readonly code: number;
  readonly out: string;
  readonly error: string;
}

/** Runs a command in the folder of a service. */
function run({ dir }: TestService, ...words: readonly string[]): Promise<CommandExit> {
  const { PATH = '', HOME = '', NODE_COMPILE_CACHE = '' } = process.env;
  const options = { cwd: dir, env: { PATH, HOME, NODE_COMPILE_CACHE, NO_COLOR: '1' } };
  return new Promise((done) => {
    execFile(process.execPath, [MAIN_FILE, 'alerts', ...words], options, (failure, out, error) =>
      done({ code: failure === null ? 0 : Number(failure.code), out, error }),
    );
  });
}

/** Runs a command that must succeed, and returns its JSON. */
// biome-ignore lint/suspicious/noExplicitAny: answers of several operations.
async function ask(service: TestService, ...words: readonly string[]): Promise<any> {
  const { code, out, error } = await run(service, ...words, '--json');
  assert.equal(code, 0, `${words.join(' ')}: ${error}`);
  return JSON.parse(out);
}

test('an operator works with rules, alerts, silences and deliveries', { timeout: 300_000 }, async (t) => {
  const service = await startTestService({
    config: { alerts: { channels: [{ type: 'file', name: 'log', path: 'alerts.jsonl' }] } },
  });
  t.after(() => service.stop());

  const added = await run(
    service,
    ...['add', 'keys', '--name', 'Keys were blocked', '--threshold', '1', '--channel', 'log'],
    ...['--tag', 'secret', '--cooldown', '1s'],
  );
  assert.deepEqual([added.code, added.out.trim()], [0, 'saved keys'], added.error);
  const { rules } = await ask(service, 'list');
  const saved = rules.find((rule: { rule_id: string }) => rule.rule_id === 'keys');
  assert.deepEqual([saved.threshold, saved.filters.tags], [1, ['secret']]);
  const wrong = await run(service, 'add', 'keys', '--name', 'Keys', '--quiet', 'at night');
  assert.equal(wrong.code, 2);
  assert.match(wrong.error, /`--quiet` is a period such as `22:00-07:00`/);
  const unknown = await run(service, 'add', 'more', '--name', 'More', '--channel', 'none');
  assert.notEqual(unknown.code, 0);
  assert.match(unknown.error, /there are `file`, `log`/);

  const tried = await ask(service, 'test', 'keys');
  assert.deepEqual(
    tried.deliveries.map((each: { channel: string; status: string }) => [each.channel, each.status]),
    [['log', 'sent']],
  );

  await fetch(`${service.url}/v1/scan/input`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ text: 'Use key sk-ABCDEF1234567890' }),
  });
  const listFiring = async () => (await ask(service, 'history', '--status', 'firing')).alerts;
  await until(async () => (await listFiring()).length > 0, 'an alert', 500);
  const firing = await listFiring();
  assert.deepEqual(
    firing.map((alert: { rule_id: string }) => alert.rule_id),
    ['keys'],
  );
  const { alert_id } = firing[0];
  assert.doesNotMatch(JSON.stringify(await ask(service, 'show', alert_id)), /sk-ABCDEF/);

  const acknowledged = await run(service, 'ack', alert_id);
  assert.deepEqual([acknowledged.code, acknowledged.out.trim()], [0, `acknowledged ${alert_id}`]);
  assert.notEqual((await run(service, 'ack', alert_id)).code, 0, 'only a firing alert is acknowledged');
  const resolved = await run(service, 'resolve', alert_id);
  assert.deepEqual([resolved.code, resolved.out.trim()], [0, `resolved ${alert_id}`]);

  const silence = await ask(
    service,
    ...['silence', '--rule', 'keys', '--expires-in', '2h', '--reason', 'Load test'],
  );
  assert.equal((await ask(service, 'silences')).silences.length, 1);
  const ended = await run(service, 'unsilence', silence.silence_id);
  assert.deepEqual([ended.code, ended.out.trim()], [0, `ended ${silence.silence_id}`]);

  const { deliveries } = await ask(service, 'deliveries');
  assert.ok(deliveries.length >= 4, 'a test, a trigger, an acknowledgement and a resolution');
  const { delivery_id } = deliveries[0];
  const sent = await run(service, 'resend', delivery_id);
  assert.notEqual(sent.code, 0, 'only a delivery that was given up is sent again');

  const removed = await run(service, 'remove', 'keys');
  assert.deepEqual([removed.code, removed.out.trim()], [0, 'removed keys']);
  assert.notEqual((await run(service, 'remove', 'keys')).code, 0, 'there is none any more');
});

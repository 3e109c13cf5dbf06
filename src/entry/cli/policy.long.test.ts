import assert from 'node:assert/strict';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { runInProcess, runProcess, startProgram, withFolder } from './testing/run.ts';

/** Concatenated, so that no secret scanner of repositories reports it. */
const KEY = ['sk-', 'ABCDEF1234567890'].join('');

async function write(cwd: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(cwd, name)), { recursive: true });
    await writeFile(join(cwd, name), text);
  }
}

test('a decision of the command line is explained, also when the policy was changed since', async () => {
  await withFolder(async (cwd) => {
    const rule = (action: string) =>
      `policies: [{name: keys, boundary: input, data_tags: [secret], action: ${action}}]\n`;
    await write(cwd, { 'service.yaml': rule('block') });
    const scanned = await runProcess(['scan', '--json', `Use ${KEY}`], { cwd });
    const { event_id } = JSON.parse(scanned.stdout);
    await write(cwd, { 'service.yaml': rule('flag') });
    const report = await runProcess(['policy', 'explain', event_id], { cwd });
    assert.equal(report.code, 0, report.stderr);
    for (const expected of [
      /^block {2}The rule `keys` blocks this\.$/m,
      /^\* secret\.credential\.api_key \(found, critical\): block/m,
      /^ {4}matches {4}keys {2}It matches, with the action `block`\.$/m,
      /^ {4}\d+ rules? more did not decide \(--all\)$/m,
      /The decision would be allow with this change:\n {2}- without the tag `secret\.credential\.api_key`$/m,
    ])
      assert.match(report.stdout, expected);
    assert.ok(!report.stdout.includes(KEY));
    assert.ok(report.stdout.trim().split('\n').length <= 12, report.stdout);
    const whole = await runInProcess(['policy', 'explain', event_id, '--all'], { cwd });
    assert.match(whole.stdout, /skipped {4}builtin\.secret\.input {2}`keys` matched first\./);
    const json = await runInProcess(['policy', 'explain', event_id, '--json'], { cwd });
    assert.equal(JSON.parse(json.stdout).explanation.matches_record, true);
    await rm(join(cwd, '.service', 'policies'), { recursive: true });
    const gone = await runInProcess(['policy', 'explain', event_id], { cwd });
    assert.equal(gone.code, 1);
    assert.match(gone.stdout, /no longer stored/);
    const unknown = await runInProcess(['policy', 'explain', 'evt_000000000000000000000000'], { cwd });
    assert.equal(unknown.code, 1);
    assert.match(unknown.stderr, /no such event/);
  });
});

test('what a new rule would have done is counted, with a service that runs and without one', async () => {
  await withFolder(async (cwd) => {
    await write(cwd, {
      'service.yaml':
        'server: {port: 0, workers: 2}\npolicies: [{name: r, boundary: input, data_tags: [personal], action: flag}]\n',
      'new.yaml':
        'version: v1alpha1\npolicies: [{name: r, boundary: input, data_tags: [personal], action: block}]\n',
      'next/service.yaml': 'secret_detection: {enabled: false}\n',
      'bad.yaml': 'version: v1alpha1\npolicies: [{name: r, boundary: input, action: blok}]\n',
    });
    await runProcess(['scan', '--agent', 'one', 'write to ann@corp-mail.com'], { cwd });
    const replay = ['policy', 'replay', '--with', 'new.yaml'];
    const alone = await runProcess([...replay, '--json'], { cwd });
    assert.equal(alone.code, 0, alone.stderr);
    assert.deepEqual(JSON.parse(alone.stdout).total, { same: 0, stricter: 1, less_strict: 0, unknown: 0 });
    const service = await startProgram(['serve'], { cwd, until: 'Try it' });
    try {
      const url = /http:\/\/[\d.:]+/.exec(service.stdout())![0];
      for (const text of ['hello', 'write to bob@corp-mail.com', `key ${KEY}`])
        await fetch(`${url}/v1/scan/input`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ text, agent_id: 'two' }),
        });
      const asJson = await runProcess([...replay, '--json'], { cwd });
      assert.equal(asJson.code, 0, asJson.stderr);
      const { total, by_agent, transitions, stricter } = JSON.parse(asJson.stdout);
      assert.deepEqual(total, { same: 2, stricter: 2, less_strict: 0, unknown: 0 });
      assert.deepEqual(by_agent[1], { name: 'two', same: 2, stricter: 1, less_strict: 0, unknown: 0 });
      assert.deepEqual(transitions, [{ from: 'flag', to: 'block', count: 2 }]);
      const report = await runInProcess(['policy', 'explain', stricter[0].event_id], { cwd });
      assert.match(report.stdout, /rule {4}r \(flag\)/);
      const shown = await runInProcess([...replay, '--agent', 'two'], { cwd });
      assert.match(shown.stdout, /^3 decisions since .*\n {2}2 the same\n {2}1 stricter\n {2}0 less strict/);
      assert.match(shown.stdout, /^two +1 +0 +0 +2$/m);
      const other = await runInProcess(['policy', 'replay', '--with', 'next/service.yaml'], { cwd });
      assert.match(other.stdout, /4 unknown\n {4}4: the policies look for other things in a text/);
    } finally {
      await service.stop('SIGTERM');
    }
    const bad = await runInProcess(['policy', 'replay', '--with', 'bad.yaml'], { cwd });
    assert.equal(bad.code, 2);
    assert.match(bad.stderr, /bad\.yaml.*must be one of/);
    const missing = await runInProcess(['policy', 'replay', '--with', 'none.yaml'], { cwd });
    assert.equal(missing.code, 2);
    const since = await runInProcess([...replay, '--since', 'yesterday'], { cwd });
    assert.equal(since.code, 2);
    assert.match(since.stderr, /ISO 8601/);
  });
});

const CASES = `version: v1alpha1
tests:
  - name: keys are blocked
    boundary: input
    text: 'Use ${KEY}'
    tenant_id: acme
    expect: {decision: block, action: block, rule: keys, tags: [secret], no_tags: [personal], detectors: [api_key], must_not_contain: [${KEY}]}
  - name: addresses are masked
    boundary: output
    text: Write to ann@corp-mail.com
    expect: {decision: modify, text: 'Write to [REDACTED]', must_not_contain: [ann@corp-mail.com], monitored: [watch]}
  - name: payloads are masked
    boundary: action
    phase: response
    tool: crm
    payload: {note: {key: 'Use ${KEY}'}}
    expect: {action: redact, payload: {note: {key: 'Use [REDACTED]'}}}
  - name: tags alone
    boundary: action
    tool: deploy
    agent_id: bot
    data_tags: [own.tag]
    expect: {action: block, rule: own}
  - name: office hours
    boundary: action
    tool: pay
    now: '2026-11-21T12:00:00Z'
    expect: {action: require_approval, rule: weekend}
`;
const POLICY = `policies:
  - {name: keys, boundary: input, data_tags: [secret], action: block}
  - {name: watch, boundary: output, data_tags: [personal], action: block, enforcement: monitor}
  - {name: own, boundary: action, data_tags: [own], action: block}
  - {name: weekend, boundary: action, action: require_approval, condition: {tool: pay, when: 'now.getDayOfWeek() in [0, 6]'}}
`;

test('cases next to the policies are run, and every failure is reported with its difference', async () => {
  await withFolder(async (cwd) => {
    await write(cwd, {
      'service.yaml': POLICY,
      'policies/a.test.yaml': CASES,
      'policies/tests/b.yaml': CASES.replace('keys are', 'again, keys are'),
    });
    const valid = await runInProcess(['validate'], { cwd });
    assert.equal(valid.code, 0, valid.stderr);
    const passed = await runProcess(['policy', 'test'], { cwd });
    assert.equal(passed.code, 0, passed.stdout + passed.stderr);
    assert.match(passed.stdout, /^pass {2}policies\/tests\/b\.yaml:3 {2}again, keys are blocked$/m);
    assert.match(passed.stdout, /^10 passed in 2 files \(policy sha256:[0-9a-f]{12}\)$/m);
    const json = JSON.parse(
      (await runInProcess(['policy', 'test', 'policies/a.test.yaml', '--json'], { cwd })).stdout,
    );
    assert.deepEqual([json.passed, json.failed, json.files], [5, 0, ['policies/a.test.yaml']]);
    const changes: readonly [string, string, RegExp][] = [
      ['decision: block,', 'decision: allow,', /decision: allow expected, block found/],
      ['rule: keys', 'rule: other', /rule: other expected, keys found/],
      [
        'tags: [secret]',
        'tags: [secret.none]',
        /tags: secret\.none expected, secret\.credential\.api_key found/,
      ],
      [
        'no_tags: [personal]',
        'no_tags: [secret]',
        /no_tags: none of these expected, secret\.credential\.api_key found/,
      ],
      ['detectors: [api_key]', 'detectors: [ssn]', /detectors: ssn expected/],
      ['monitored: [watch]', 'monitored: [keys]', /monitored: keys expected, watch found/],
      ["text: 'Write to [REDACTED]'", "text: 'Write'", /text: Write expected, Write to \[REDACTED\] found/],
      [
        'must_not_contain: [ann@',
        'must_not_contain: [Write, ann@',
        /must_not_contain\[0\]: not in the resulting content/,
      ],
      ["key: 'Use [REDACTED]'", "key: 'Use'", /payload: \{"note":\{"key":"Use"\}\} expected/],
      ['2026-11-21T12', '2026-11-20T12', /action: require_approval expected, allow found/],
      [
        'data_tags: [own.tag]',
        'data_tags: [personal]',
        /rule: own expected, builtin\.personal\.action found/,
      ],
    ];
    for (const [from, to, expected] of changes) {
      await write(cwd, { 'wrong.yaml': CASES.replace(from, to) });
      const failed = await runInProcess(['policy', 'test', 'wrong.yaml'], { cwd });
      assert.equal(failed.code, 1, to);
      assert.match(failed.stdout, expected);
      assert.match(failed.stdout, /^FAIL {2}wrong\.yaml:\d+ /m);
    }
    assert.equal(changes.length, 11);
    const malformed: readonly [string, RegExp][] = [
      [
        CASES.replace('expect: {action: redact', 'expcet: {action: redact'),
        /unknown key `tests\[2\]\.expcet`; did you mean `expect`/,
      ],
      [
        CASES.replace('boundary: output', 'boundary: outptu'),
        /wrong\.yaml:9: `tests\[1\]\.boundary` must be one of/,
      ],
      [CASES.replace('expect: {action: block, rule: own}', 'expect: {}'), /tests\[3\]\.expect/],
      ['tests: []\n', /must have at least 1 entry/],
      ['version: v1alpha1\n', /`tests` is missing/],
      ['policies: []\n', /unknown key `policies`/],
      ['- [\n', /wrong\.yaml/],
      ['', /There are no cases/],
    ];
    for (const [text, expected] of malformed) {
      await write(cwd, { 'wrong.yaml': text });
      const refused = await runInProcess(['policy', 'test', 'wrong.yaml'], { cwd });
      assert.equal(refused.code, 2, text);
      assert.match(refused.stderr, expected);
    }
    assert.equal(malformed.length, 8);
  });
  await withFolder(async (cwd) => {
    const none = await runInProcess(['policy', 'test'], { cwd });
    assert.equal(none.code, 2);
    assert.match(none.stderr, /There are no cases to run\.\nThey are looked for in policies\/tests/);
    await write(cwd, { 'service.yaml': 'policies: [{name: r}]\n' });
    assert.equal((await runInProcess(['policy', 'test'], { cwd })).code, 2);
  });
});

test('lint prints each remark with its path, and ends with 1 only for errors', async () => {
  await withFolder(async (cwd) => {
    const rule = (name: string, action: string, tag: string) =>
      `  - {name: ${name}, boundary: input, data_tags: [${tag}], action: ${action}}\n`;
    const document = `version: v1alpha1\npolicies:\n${rule('later', 'flag', 'secret.credential')}`;
    await write(cwd, {
      'service.yaml': `policies:\n${rule('first', 'block', 'secret')}`,
      'policies/a.yaml': document,
    });
    const wrong = await runProcess(['policy', 'lint'], { cwd });
    assert.equal(wrong.code, 1, wrong.stderr);
    assert.match(
      wrong.stdout,
      /^error {4}policies\/a\.yaml:3: The rule `later` never applies: `first` .* \(rule-dead\)$/m,
    );
    assert.match(wrong.stdout, /^1 error, 0 warnings; 2 rules, contracts and identities checked\.$/m);
    const json = JSON.parse((await runInProcess(['policy', 'lint', '--json'], { cwd })).stdout);
    const [{ id, level, file, path, line }] = json.remarks;
    assert.deepEqual(
      [id, level, file, path, line, json.errors],
      ['rule-dead', 'error', 'policies/a.yaml', 'policies[0]', 3, 1],
    );
    await write(cwd, { 'policies/a.yaml': document.replace('flag', 'block') });
    const warned = await runInProcess(['policy', 'lint'], { cwd });
    assert.equal(warned.code, 0);
    assert.match(warned.stdout, /^warning {2}policies\/a\.yaml:3: .*\(rule-redundant\)$/m);
    assert.equal((await runInProcess(['policy', 'lint', '--strict'], { cwd })).code, 1);
    await rm(join(cwd, 'policies'), { recursive: true });
    const clean = await runInProcess(['policy', 'lint', '--strict'], { cwd });
    assert.equal(clean.code, 0);
    assert.match(clean.stdout, /^No problems found; 1 rule, contract or identity checked\.$/m);
    await write(cwd, { 'service.yaml': 'policies: [{name: r}]\n' });
    assert.equal((await runInProcess(['policy', 'lint'], { cwd })).code, 2);
  });
});

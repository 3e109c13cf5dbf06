import assert from 'node:assert/strict';
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { runInProcess, runProcess, withFolder } from './testing/run.ts';

const KEY = ['sk-', 'ABCDEF1234567890'].join('');

/** Makes three decisions: one that allows, one that masks, one that blocks. */
async function makeThreeDecisions(cwd: string): Promise<void> {
  await runInProcess(['scan', '--agent', 'one', 'hello'], { cwd });
  await runProcess(
    ['scan', '--agent', 'two', '--tenant', 'acme', '--session', 's-1', 'write to ann@corp-mail.com'],
    { cwd },
  );
  await runInProcess(['scan', '--agent', 'three', `key ${KEY}`], { cwd });
}

interface Case {
  readonly args: readonly string[];
  readonly agents: readonly string[];
}

const FILTERS: readonly Case[] = [
  { args: [], agents: ['three', 'two', 'one'] },
  { args: ['--oldest-first'], agents: ['one', 'two', 'three'] },
  { args: ['--newest-first'], agents: ['three', 'two', 'one'] },
  { args: ['--tail', '2'], agents: ['three', 'two'] },
  { args: ['--tail', '2', '--oldest-first'], agents: ['two', 'three'] },
  { args: ['--decision', 'block'], agents: ['three'] },
  { args: ['--action', 'redact'], agents: ['two'] },
  { args: ['--boundary', 'input'], agents: ['three', 'two', 'one'] },
  { args: ['--boundary', 'output'], agents: [] },
  { args: ['--agent', 'one'], agents: ['one'] },
  { args: ['--tenant', 'acme'], agents: ['two'] },
  { args: ['--session', 's-1'], agents: ['two'] },
  { args: ['--data-tag', 'secret'], agents: ['three'] },
  { args: ['--data_tag', 'secret.credential'], agents: ['three'] },
  { args: ['--data-tag', 'secre'], agents: [] },
  { args: ['--policy', 'default.allow'], agents: ['one'] },
  { args: ['--tool', 'none'], agents: [] },
  { args: ['--metadata-key', 'endpoint', '--metadata-value', 'scan_input'], agents: ['three', 'two', 'one'] },
  { args: ['--metadata-key', 'endpoint', '--metadata-value', 'guard_output'], agents: [] },
  { args: ['--last', '1h'], agents: ['three', 'two', 'one'] },
  { args: ['--since', '2000-01-01', '--until', '2000-01-02'], agents: [] },
  { args: ['--source-agent', 'x'], agents: [] },
  { args: ['--destination-agent', 'x'], agents: [] },
  { args: ['--phase', 'request'], agents: [] },
  { args: ['--event-id', 'evt_000000000000000000000000'], agents: [] },
];

test('logs finds by every filter, in the order asked for, and ends with 0 when nothing fits', async () => {
  await withFolder(async (cwd) => {
    const empty = await runInProcess(['logs'], { cwd });
    assert.equal(empty.code, 2, empty.stdout);
    assert.match(empty.stderr, /no journal at/);
    await makeThreeDecisions(cwd);
    const nothing = await runInProcess(['logs', '--agent', 'nobody', '--last', '24h'], { cwd });
    assert.equal(nothing.code, 0, nothing.stderr);
    const sentence = `No matching events in ${join(cwd, '.service')} (last 24 h, 3 events searched).\n`;
    assert.equal(nothing.stdout, sentence);
    const forPrograms = await runInProcess(['logs', '--agent', 'nobody', '--last', '24h', '--json'], {
      cwd,
    });
    assert.deepEqual([forPrograms.stdout, forPrograms.stderr], ['', sentence]);
    const longAgo = await runInProcess(['logs', '--since', '2000-01-01', '--until', '2000-01-02'], { cwd });
    assert.match(longAgo.stdout, /\(since 2000-01-01 until 2000-01-02, 0 events searched\)/);
    const allTime = await runInProcess(['logs', '--agent', 'nobody'], { cwd });
    assert.match(allTime.stdout, /\(all time, 3 events searched\)/);
    await rm(join(cwd, '.service', 'index.db'), { force: true });
    const withoutIndex = await runInProcess(['logs', '--agent', 'nobody'], { cwd });
    assert.equal(withoutIndex.stdout, allTime.stdout);
    for (const { args, agents } of FILTERS) {
      const { code, stdout, stderr } = await runInProcess(['logs', '--json', ...args], { cwd });
      assert.equal(code, 0, `${args.join(' ')}: ${stderr}`);
      const events = stdout
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line));
      assert.deepEqual(
        events.map((event) => event.agent_id),
        agents,
        args.join(' '),
      );
    }
    const people = await runInProcess(['logs'], { cwd });
    assert.match(
      people.stdout,
      /^\S+Z block {2}input {2}three rule=\S+ severity=critical tags=secret\.credential\S* evt_[0-9a-f]{24}$/m,
    );
    assert.ok(!people.stdout.includes(KEY));
  });
});

const WRONG: readonly { args: readonly string[]; stderr: RegExp }[] = [
  { args: ['--last', 'yesterday'], stderr: /`last` is a duration/ },
  { args: ['--since', 'noon'], stderr: /`since`/ },
  { args: ['--metadata-value', 'x'], stderr: /--metadata-key/ },
  { args: ['--follow', '--until', '1h'], stderr: /exclude each other/ },
];

test('logs refuses filters that cannot be meant', async () => {
  await withFolder(async (cwd) => {
    await runInProcess(['scan', 'hello'], { cwd });
    for (const { args, stderr } of WRONG) {
      const result = await runInProcess(['logs', ...args], { cwd });
      assert.equal(result.code, 2, args.join(' '));
      assert.match(result.stderr, stderr);
    }
  });
});

test('a name of several words cannot pass for other columns', async () => {
  await withFolder(async (cwd) => {
    await runInProcess(['scan', '--agent', 'a rule=forged evt_1', 'hello'], { cwd });
    const { stdout } = await runInProcess(['logs'], { cwd });
    assert.match(stdout, / input {2}"a rule=forged evt_1" rule=default\.allow evt_[0-9a-f]{24}\n$/);
  });
});

test('logs --detail shows one event, and says no for one that is not there', async () => {
  await withFolder(async (cwd) => {
    const scanned = await runInProcess(['scan', '--json', '--agent', 'a\u001b[2Jb', 'hello'], { cwd });
    assert.equal(scanned.code, 2, 'a name with a control character is refused');
    const { stdout } = await runInProcess(['scan', '--json', '--agent', 'one', 'hello'], { cwd });
    const { event_id } = JSON.parse(stdout);
    const shown = await runInProcess(['logs', '--detail', event_id], { cwd });
    assert.equal(shown.code, 0, shown.stderr);
    for (const field of ['event_id', 'context_hash', 'policy_hash', 'caller_id', 'metadata.endpoint']) {
      assert.match(shown.stdout, new RegExp(`^${field.replace('.', '\\.')} +\\S`, 'm'));
    }
    assert.match(shown.stdout, /^caller_id +cli:/m);
    const json = await runInProcess(['logs', '--json', '--detail', event_id], { cwd });
    assert.equal(JSON.parse(json.stdout).event_id, event_id);
    const none = await runInProcess(['logs', '--detail', 'evt_000000000000000000000000'], { cwd });
    assert.equal(none.code, 1);
    assert.match(none.stderr, /no such event/);
  });
});

test('logs --follow shows what is there and what comes, and Ctrl-C ends it with 0', async () => {
  await withFolder(async (cwd) => {
    await runInProcess(['scan', '--agent', 'before', 'hello'], { cwd });
    await runInProcess(['logs'], { cwd });
    const following = runProcess(['logs', '--follow', '--json', '--decision', 'allow'], {
      cwd,
      interrupt_at: '"after"',
    });
    await runInProcess(['scan', '--agent', 'blocked', `key ${KEY}`], { cwd });
    await runInProcess(['scan', '--agent', 'after', 'hello'], { cwd });
    // Without a service, the next query appends the spooled events to the chain.
    await runInProcess(['logs'], { cwd });
    const { code, stdout } = await following;
    assert.equal(code, 0);
    const agents = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).agent_id);
    assert.deepEqual(agents, ['before', 'after']);
  });
});

test('a reader that goes away ends the program without a complaint', async () => {
  await withFolder(async (cwd) => {
    await makeThreeDecisions(cwd);
    const { code, stderr } = await runProcess(['logs', '--json'], { cwd, closes_stdout: true });
    assert.equal(code, 0);
    assert.equal(stderr, '');
  });
});

test('audit verify says intact, and where a record is not as it was written', async () => {
  await withFolder(async (cwd) => {
    const nothing = await runInProcess(['audit', 'verify'], { cwd });
    assert.equal(nothing.code, 2);
    assert.match(nothing.stderr, /no journal/);
    await makeThreeDecisions(cwd);
    await runInProcess(['logs'], { cwd });
    const intact = await runInProcess(['audit', 'verify'], { cwd });
    assert.equal(intact.code, 0, intact.stdout + intact.stderr);
    assert.match(intact.stdout, /^intact {2}3 events$/m);
    const byFolder = await runInProcess(['audit', 'verify', '--json', '--dir', '.service'], { cwd });
    assert.equal(JSON.parse(byFolder.stdout).intact, true);

    const keys = join(cwd, '.service/keys');
    const [key] = (await readdir(keys)).filter((name) => name.endsWith('.json'));
    await rename(join(keys, key!), join(cwd, key!));
    const unknown = await runInProcess(['audit', 'verify'], { cwd });
    assert.equal(unknown.code, 3);
    assert.match(
      unknown.stdout,
      new RegExp(`^unknown {2}The log cannot be verified without \`${key}\``, 'm'),
    );
    await rename(join(cwd, key!), join(keys, key!));

    const writer = join(cwd, '.service/journal/parent');
    const segment = join(writer, (await readdir(writer)).find((name) => name.endsWith('.jsonl'))!);
    await writeFile(
      segment,
      (await readFile(segment, 'utf8')).replace('"decision":"block"', '"decision":"allow"'),
    );
    const broken = await runInProcess(['audit', 'verify'], { cwd });
    assert.equal(broken.code, 1);
    assert.match(broken.stdout, /^broken {2}parent\/\d+\.jsonl, line \d+ \(record \d+\): /m);
    const brokenJson = await runInProcess(['audit', 'verify', '--json'], { cwd });
    assert.equal(brokenJson.code, 1);
    assert.equal(JSON.parse(brokenJson.stdout).broken.writer, 'parent');
    await rm(segment);
    assert.equal(
      (await runInProcess(['audit', 'verify'], { cwd })).code,
      1,
      'the index remembers what was deleted',
    );
  });
});

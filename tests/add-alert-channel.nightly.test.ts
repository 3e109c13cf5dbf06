/** An alert channel is added with one file and one line of a list; every other place derives it. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { copySource, extensions } from './support/extensions.ts';

const KEY = ['$', '{FAKE_KEY}'].join('');
const CHANNEL = { type: 'fake', address: 'http://fake.example', key: KEY };
const MAIN = 'src/entry/cli/main.ts';

function openCopy(withChannel: boolean) {
  const copy = copySource(...(withChannel ? [extensions['alert channel']] : []));
  const project = join(copy, 'project');
  mkdirSync(project);
  return {
    copy,
    run: (file: string, ...words: string[]) => {
      const { status, stdout, stderr } = spawnSync(process.execPath, [join(copy, file), ...words], {
        cwd: project,
        encoding: 'utf8',
        env: { ...process.env, FAKE_KEY: 'k' },
      });
      return { status, all: `${stdout}${stderr}` };
    },
    write: (channel: object) =>
      writeFileSync(join(project, 'service.yaml'), JSON.stringify({ alerts: { channels: [channel] } })),
    remove: () => rmSync(copy, { recursive: true, force: true }),
  };
}

test('an alert channel in a file and a line is a setting, a credential, a warning, a page and a receiver', async () => {
  const { copy, run, write, remove } = openCopy(true);
  try {
    write({ type: 'fake' });
    assert.match(run(MAIN, 'validate').all, /`alerts\.channels\[0\]\.address` is missing/);
    write({ type: 'none' });
    assert.match(run(MAIN, 'validate').all, /`alerts\.channels\[0\]\.type` must be one of .*`fake`/);
    write({ ...CHANNEL, key: 'written-out' });
    assert.match(run(MAIN, 'validate').all, /`alerts\.channels\[0\]\.key` is a credential in plain text/);
    write(CHANNEL);
    const valid = run(MAIN, 'validate');
    assert.equal(valid.status, 0, valid.all);
    assert.match(valid.all, /`alerts\.channels\[0\]\.address` is not `https`: the alerts/);

    const made = run('scripts/generate/main.ts');
    assert.equal(made.status, 0, made.all);
    const read = (path: string) => readFileSync(join(copy, path), 'utf8');
    const page = read('docs/reference/alert-channels.md');
    assert.match(page, /^\| `fake` \| a fake \| nothing \|$/m);
    assert.match(page, /^\| `fake` \| `key` \| string \| required \| Key of the fake\. \|$/m);
    assert.match(read('docs/reference/configuration.md'), /^\| `alerts\.channels\[\]\.address` \|/m);
    const schema = read('schemas/service.schema.json').replaceAll(/\s/g, '');
    assert.match(schema, /"type":\{"type":"string","const":"fake"\}/);

    const index = join(copy, 'src/drivers/alerts/index.ts');
    const { alertChannelDrivers } = (await import(index)) as typeof import('../src/drivers/alerts/index.ts');
    assert.equal(String(alertChannelDrivers[0]?.name), 'fake');
  } finally {
    remove();
  }
});

test('without its line in the list the channel is nowhere', () => {
  const { run, write, remove } = openCopy(false);
  try {
    write(CHANNEL);
    const { status, all } = run(MAIN, 'validate');
    assert.equal(status, 1);
    assert.match(all, /`alerts\.channels\[0\]\.type` must be one of `chat-webhook`, `discord`, `email`/);
  } finally {
    remove();
  }
});

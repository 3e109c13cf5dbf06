/** A secret backend is added with one file and one line of a list; every other place derives it. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { copySource, extensions } from './support/extensions.ts';
import { startTestService } from './support/service.ts';

const SECTION = { backend: 'fake', fake: { address: 'http://fake.example', key: 'mail_key' } };
const CHANNEL = { type: 'paging', routing_key: ['$', '{secret:mail_key}'].join('') };

const PLUGIN = `export default {
  name: 'second', version: '1.0.0',
  drivers: [{ kind: 'secrets', name: 'fake', open: async () => ({ get: async () => null }) }],
};`;

function openCopy(withBackend: boolean) {
  const copy = copySource(...(withBackend ? [extensions['secret backend']] : []));
  const project = join(copy, 'project');
  mkdirSync(project);
  return {
    copy,
    run: (file: string, ...words: string[]) => {
      const { status, stdout, stderr } = spawnSync(process.execPath, [join(copy, file), ...words], {
        cwd: project,
        encoding: 'utf8',
      });
      return { status, all: `${stdout}${stderr}` };
    },
    write: (config: object, files: Readonly<Record<string, string>> = {}) => {
      for (const [name, text] of Object.entries({ ...files, 'service.yaml': JSON.stringify(config) }))
        writeFileSync(join(project, name), text);
    },
    remove: () => rmSync(copy, { recursive: true, force: true }),
  };
}

const MAIN = 'src/entry/cli/main.ts';

test('a secret backend in a file and a line is a setting, a requirement, a page, a reserved name, and gives secrets', async () => {
  const { copy, run, write, remove } = openCopy(true);
  try {
    write({ secrets: { backend: 'fake' } });
    assert.match(run(MAIN, 'validate').all, /`secrets\.fake` is missing; `secrets\.backend: fake` needs it/);
    write({ secrets: { ...SECTION, backend: 'none' } });
    assert.match(run(MAIN, 'validate').all, /`secrets\.backend` must be one of .*`fake`/);
    write({ secrets: SECTION, plugins: { files: ['second.mjs'] } }, { 'second.mjs': PLUGIN });
    assert.match(run(MAIN, 'plugins', 'check', 'second.mjs').all, /is taken by another driver/);
    write({ secrets: SECTION, alerts: { channels: [CHANNEL] } });
    const valid = run(MAIN, 'validate');
    assert.equal(valid.status, 0, valid.all);
    assert.match(valid.all, /`secrets\.fake\.address` is not `https`: the token and the secrets/);

    const made = run('scripts/generate/main.ts');
    assert.equal(made.status, 0, made.all);
    const read = (path: string) => readFileSync(join(copy, path), 'utf8');
    assert.match(read('docs/reference/configuration.md'), /^\| `secrets\.fake\.address` \|/m);
    assert.match(
      read('docs/reference/secrets.md'),
      /^\| `fake` \| a fake \| the one of `secrets\.fake\.key` \|$/m,
    );
    const schema = read('schemas/service.schema.json').replaceAll(/\s/g, '');
    assert.match(schema, /"enum":\["fake","env","vault","cloud","plugin"\]/);
    assert.match(schema, /"description":"For`fake`\."/);

    const service = await startTestService({
      main: join(copy, MAIN),
      config: { secrets: SECTION, alerts: { channels: [CHANNEL] } },
    });
    try {
      const operator = readFileSync(join(service.state_dir, 'operator-token'), 'utf8').trim();
      const answer = await fetch(`${service.url}/v1/secrets/check`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-service-key': operator },
        body: JSON.stringify({ secret_keys: ['mail_key', 'other'] }),
      });
      assert.deepEqual(await answer.json(), {
        backend: 'fake',
        reachable: true,
        secrets: [
          { secret_key: 'mail_key', result: 'allow' },
          { secret_key: 'other', result: 'missing' },
        ],
      });
      const openapi = await (await fetch(`${service.url}/openapi.json`)).text();
      assert.match(openapi, /"enum":\["fake","env","vault","cloud","plugin"\]/);
    } finally {
      await service.stop();
    }
  } finally {
    remove();
  }
});

test('without its line in the list the backend is nowhere', () => {
  const { run, write, remove } = openCopy(false);
  try {
    write({ secrets: SECTION });
    const { status, all } = run(MAIN, 'validate');
    assert.equal(status, 1);
    assert.match(all, /`secrets\.backend` must be one of `env`, `vault`, `cloud`, `plugin`/);
  } finally {
    remove();
  }
});

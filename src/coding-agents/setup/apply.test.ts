import assert from 'node:assert/strict';
import { existsSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { codingAgents } from '../coding-agents.ts';
import { formatHookCommand } from '../record/hook-command.ts';
import { type FileRequest, planSetup } from './apply.ts';
import { planHooksPart } from './parts.ts';
import { readInstalledHooks } from './settings-locations.ts';

const agent = codingAgents.find(({ name }) => name === 'claude-code')!;
const part = planHooksPart(agent.settings, () =>
  formatHookCommand({
    program: ['/x/service'],
    config: '/c.yaml',
    dialect: agent.name,
    event: null,
    guards_exit: true,
  }),
);

interface Place {
  readonly folder: string;
  readonly path: string;
  readonly state_dir: string;
  readonly wishes: readonly FileRequest[];
}

/** Runs a test in its own project; `text` is the content of its settings file, `null` for no file. */
async function withProject(text: string | null, use: (place: Place) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'agents-'));
  try {
    const [place] = agent.settings.targets({ project: folder, home: folder, env: {} });
    if (text !== null) {
      await mkdir(join(folder, '.claude'));
      await writeFile(place!.path, text);
    }
    const stateDir = join(folder, 'state');
    await use({
      folder,
      path: place!.path,
      state_dir: stateDir,
      wishes: [{ location: place!, parts: [part] }],
    });
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function apply(
  mode: 'install' | 'uninstall',
  { wishes, state_dir }: Place,
): Promise<readonly string[]> {
  const made: string[] = [];
  const { apply: applyAll } = await planSetup(mode, wishes, state_dir);
  await applyAll(({ action, has_receipt }) => made.push(`${action} ${has_receipt}`));
  return made;
}

const SETTINGS = '{\n  "permissions": {"allow": ["Bash(ls)"]}\n}\n';

test('what was made goes again with its folder, what was there comes back byte for byte', async () => {
  await withProject(null, async (place) => {
    assert.deepEqual(await apply('install', place), ['create true']);
    assert.equal((await readInstalledHooks(agent.settings, place.wishes[0]!.location)).length, 5);
    assert.deepEqual(await apply('install', place), []);
    assert.deepEqual(await apply('uninstall', place), ['delete true']);
    assert.deepEqual(await readdir(place.folder), ['state']);
    assert.deepEqual(await readdir(join(place.state_dir, 'setup')), []);
    assert.equal(statSync(place.state_dir).mode & 0o777, 0o700);
    assert.deepEqual(await apply('uninstall', place), []);
  });
  await withProject(SETTINGS, async (place) => {
    await chmod(place.path, 0o600);
    assert.deepEqual(await apply('install', place), ['change true']);
    assert.equal(statSync(place.path).mode & 0o777, 0o600);
    assert.notEqual(readFileSync(place.path, 'utf8'), SETTINGS);
    assert.deepEqual(await apply('uninstall', place), ['change true']);
    assert.equal(readFileSync(place.path, 'utf8'), SETTINGS);
    assert.deepEqual(await readdir(join(place.folder, '.claude')), ['settings.json']);
  });
});

test('what is kept to undo a change holds nothing else of the file', async () => {
  const hidden = 'hunter-seven';
  await withProject(`{"env": {"A": "${hidden}"}, "hooks": {}}`, async (place) => {
    await apply('install', place);
    const [name] = await readdir(join(place.state_dir, 'setup'));
    const path = join(place.state_dir, 'setup', name!);
    assert.ok(!readFileSync(path, 'utf8').includes(hidden));
    assert.equal(statSync(path).mode & 0o777, 0o600);
    // A damaged receipt is ignored.
    await writeFile(path, '{"created": true}');
    assert.deepEqual(await apply('uninstall', place), ['change true']);
    assert.equal(readFileSync(place.path, 'utf8'), `{"env": {"A": "${hidden}"}}`);
  });
});

test('where the way back cannot be kept, the change is made and says so', async () => {
  await withProject(null, async (place) => {
    await writeFile(join(place.folder, 'state'), 'a file');
    assert.deepEqual(await apply('install', place), ['create false']);
    assert.deepEqual(await apply('uninstall', place), ['change false']);
    assert.equal(readFileSync(place.path, 'utf8'), '{}\n');
  });
});

test('a link is written through and stays a link', async () => {
  await withProject(SETTINGS, async (place) => {
    const target = join(place.folder, 'dotfiles.json');
    await writeFile(target, SETTINGS);
    await rm(place.path);
    await symlink(target, place.path);
    const { changes } = await planSetup('install', place.wishes, null);
    assert.deepEqual(
      changes.map(({ path, real_path }) => [path, real_path]),
      [[place.path, target]],
    );
    await apply('install', place);
    assert.equal(readlinkSync(place.path), target);
    assert.ok(readFileSync(target, 'utf8').includes('/x/service hook'));
    await apply('uninstall', place);
    assert.equal(readFileSync(target, 'utf8'), SETTINGS);
  });
});

test('a file that changes between the look and the yes is left alone', async () => {
  for (const [before, now] of [
    [SETTINGS, '{"other": 1}'],
    [null, '{"other": 1}'],
  ] as const) {
    await withProject(before, async (place) => {
      const { apply: applyAll } = await planSetup('install', place.wishes, place.state_dir);
      await mkdir(join(place.folder, '.claude'), { recursive: true });
      await writeFile(place.path, now);
      await assert.rejects(
        applyAll(() => assert.fail('nothing was made')),
        /was changed in the meantime.*run this again/,
      );
      assert.equal(readFileSync(place.path, 'utf8'), now);
      assert.deepEqual(await readdir(join(place.folder, '.claude')), ['settings.json']);
      assert.ok(!existsSync(place.state_dir));
    });
  }
});

test('what may not or cannot be changed is refused by name and left alone', async () => {
  const cases: readonly (readonly [name: string, make: (place: Place) => Promise<void>, pattern: RegExp])[] =
    [
      ['read-only', ({ path }) => chmod(path, 0o444), /settings\.json` is read-only/],
      [
        'no JSON',
        ({ path }) => writeFile(path, '{"a": 1'),
        /is not JSON at line 1\. The file was not changed/,
      ],
      ['comments', ({ path }) => writeFile(path, '{\n// why\n}'), /is not JSON at line 2/],
      ['not UTF-8', ({ path }) => writeFile(path, Buffer.from([0x7b, 0xff, 0x7d])), /is not UTF-8/],
      ['too large', ({ path }) => writeFile(path, ' '.repeat(1_000_001)), /is larger than 1000000 bytes/],
      ['a folder', ({ path }) => rm(path).then(() => mkdir(path)), /is no regular file/],
      [
        'a dead link',
        ({ path }) => rm(path).then(() => symlink('/nowhere/x', path)),
        /a link to a file that is not there/,
      ],
      [
        'a file in the way',
        ({ folder }) =>
          rm(join(folder, '.claude'), { recursive: true }).then(() => writeFile(join(folder, '.claude'), '')),
        /has a file where a folder is expected/,
      ],
    ];
  let ran = 0;
  for (const [name, make, pattern] of cases) {
    await withProject(SETTINGS, async (place) => {
      await make(place);
      const before = statSync(place.path, { throwIfNoEntry: false })?.isFile()
        ? readFileSync(place.path)
        : null;
      await assert.rejects(apply('install', place), pattern, name);
      if (before !== null) assert.deepEqual(readFileSync(place.path), before, name);
      ran += 1;
    });
  }
  assert.equal(ran, cases.length);
});

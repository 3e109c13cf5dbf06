import assert from 'node:assert/strict';
import { appendFile, mkdir, mkdtemp, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type FileWatch, watchFiles } from './watch.ts';

let root = '';
before(async () => {
  root = await mkdtemp(join(tmpdir(), 'watch-'));
});
after(() => rm(root, { recursive: true, force: true }));

/** Returns a fake clock. `tick` runs one scan and waits until it has ended. */
function createFakeClock() {
  let due: (() => void) | null = null;
  let armed: (() => void) | null = null;
  const delays: number[] = [];
  return {
    delays,
    later: (run: () => void, delayMs: number) => {
      delays.push(delayMs);
      due = run;
      armed?.();
      return () => {
        due = null;
      };
    },
    pending: () => due !== null,
    tick: async (): Promise<void> => {
      const run = due;
      due = null;
      const next = new Promise<void>((resolve) => {
        armed = resolve;
      });
      run?.();
      await next;
    },
    ready: () =>
      new Promise<void>((resolve) => {
        armed = resolve;
        if (due !== null) resolve();
      }),
  };
}

interface Bench {
  readonly dir: string;
  readonly tick: () => Promise<void>;
  readonly told: () => number;
  readonly watch: FileWatch;
  readonly clock: ReturnType<typeof createFakeClock>;
}

async function createBench(onChange: () => Promise<void> | void = () => {}): Promise<Bench> {
  const dir = await mkdtemp(join(root, 'case-'));
  await mkdir(join(dir, 'policies'));
  await writeFile(join(dir, 'service.yaml'), 'a: 1');
  await writeFile(join(dir, 'policies/a.yaml'), 'a: 1');
  const clock = createFakeClock();
  let report = 0;
  const watch = watchFiles({
    list: () => ({
      base_dir: dir,
      files: [join(dir, 'service.yaml')],
      patterns: ['policies/*.yaml', 'one.yaml'],
    }),
    onChange: () => {
      report += 1;
      return onChange();
    },
    later: clock.later,
    now_ms: () => 0,
  });
  await clock.ready();
  return { dir, tick: clock.tick, told: () => report, watch, clock };
}

const changes: readonly (readonly [string, (dir: string) => Promise<unknown>])[] = [
  ['written in place', (dir) => writeFile(join(dir, 'service.yaml'), 'a: 2')],
  [
    'replaced by a rename',
    async (dir) => {
      await writeFile(join(dir, 'new'), 'a: 1');
      await rename(join(dir, 'new'), join(dir, 'service.yaml'));
    },
  ],
  [
    'the same size and time, another file',
    async (dir) => {
      await writeFile(join(dir, 'new'), 'b: 1');
      await utimes(join(dir, 'new'), 1, 1);
      await utimes(join(dir, 'policies/a.yaml'), 1, 1);
      await rename(join(dir, 'new'), join(dir, 'policies/a.yaml'));
    },
  ],
  ['a file more', (dir) => writeFile(join(dir, 'policies/b.yaml'), '')],
  ['a file less', (dir) => rm(join(dir, 'policies/a.yaml'))],
  ['a name that a pattern names', (dir) => writeFile(join(dir, 'one.yaml'), '')],
  ['the configuration goes', (dir) => rm(join(dir, 'service.yaml'))],
  ['renamed', (dir) => rename(join(dir, 'policies/a.yaml'), join(dir, 'policies/c.yaml'))],
  ['the folder goes', (dir) => rm(join(dir, 'policies'), { recursive: true })],
];

test('every kind of change is reported once, after it was stable for one check', async () => {
  for (const [name, change] of changes) {
    const { dir, tick, told: report, watch } = await createBench();
    await tick();
    assert.equal(report(), 0, `${name}: nothing has changed`);
    await change(dir);
    await tick();
    assert.equal(report(), 0, `${name}: it may not be over`);
    await tick();
    assert.equal(report(), 1, name);
    await tick();
    await tick();
    assert.equal(report(), 1, `${name}: told once`);
    watch.close();
  }
  assert.equal(changes.length, 9);
});

test('a file that no pattern names is nothing', async () => {
  const { dir, tick, told: report, watch } = await createBench();
  await writeFile(join(dir, 'policies/a.txt'), '');
  await writeFile(join(dir, 'other.yaml'), '');
  for (let i = 0; i < 4; i += 1) await tick();
  assert.equal(report(), 0);
  watch.close();
});

test('links that are turned are seen, as a cluster turns them', async () => {
  const { dir, tick, told: report, watch } = await createBench();
  const turn = async (version: string): Promise<void> => {
    await mkdir(join(dir, 'policies', `..${version}`));
    await writeFile(join(dir, 'policies', `..${version}`, 'm.yaml'), 'a: 1');
    await symlink(`..${version}`, join(dir, 'policies/..data_tmp'));
    await rename(join(dir, 'policies/..data_tmp'), join(dir, 'policies/..data'));
  };
  await turn('v1');
  await symlink('..data/m.yaml', join(dir, 'policies/m.yaml'));
  await tick();
  await tick();
  assert.equal(report(), 1);
  await turn('v2');
  await tick();
  await tick();
  assert.equal(report(), 2);
  watch.close();
});

test('a growing file is reported when it is stable, and at the latest after ten checks', async () => {
  const { dir, tick, told: report, watch } = await createBench();
  const grow = () => appendFile(join(dir, 'service.yaml'), '#');
  for (let i = 0; i < 5; i += 1) {
    await grow();
    await tick();
  }
  assert.equal(report(), 0);
  await tick();
  assert.equal(report(), 1);
  for (let i = 0; i < 12; i += 1) {
    await grow();
    await tick();
  }
  assert.equal(report(), 2);
  watch.close();
});

test('a change that is reverted before it was stable is not reported', async () => {
  const { dir, tick, told: report, watch } = await createBench();
  await writeFile(join(dir, 'policies/b.yaml'), '');
  await tick();
  await rm(join(dir, 'policies/b.yaml'));
  await tick();
  await tick();
  assert.equal(report(), 0);
  watch.close();
});

test('a reload that fails does not end the watch', async () => {
  const { dir, tick, told: report, watch } = await createBench(() => Promise.reject(new Error('no')));
  for (const [text, times] of [
    ['a: 2', 1],
    ['a: 33', 2],
  ] as const) {
    await writeFile(join(dir, 'service.yaml'), text);
    await tick();
    await tick();
    assert.equal(report(), times);
  }
  watch.close();
});

test('a closed watch looks no more', async () => {
  const { watch, clock } = await createBench();
  assert.ok(clock.pending());
  watch.close();
  assert.ok(!clock.pending());
  assert.deepEqual(new Set(clock.delays), new Set([1000]));
});

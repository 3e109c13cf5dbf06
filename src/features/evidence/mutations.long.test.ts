/** Random changes of packs: each one is found, or has changed no file of the pack. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'node:test';
import { promisify } from 'node:util';
import {
  extractTo,
  makeEvidenceLog,
  type PackedFile,
  repack,
  unpack,
  verifyTestPack,
  writeTestPack,
} from './testing/test-pack.ts';
import { VERIFIER_FILE } from './verify-pack.ts';

const run = promisify(execFile);
const COUNT = Number(process.env.MUTATIONS ?? 100);
const SEED = Number(process.env.MUTATIONS_SEED ?? 1);

/** Returns whole numbers below a bound (mulberry32). */
function openRandom(seed: number): (bound: number) => number {
  let state = seed >>> 0;
  return (bound) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound;
  };
}

type Mutate = (content: Buffer, random: (bound: number) => number) => Buffer;

function mutateLines(change: (lines: string[], random: (bound: number) => number) => string[]): Mutate {
  return (content, random) =>
    Buffer.from(change(content.toString('latin1').split('\n'), random).join('\n'), 'latin1');
}

const CONTENT_MUTATIONS: Readonly<Record<string, Mutate>> = {
  'flip a bit': (content, random) => {
    const at = random(content.length);
    const changed = Buffer.from(content);
    changed[at] = changed[at]! ^ (1 << random(8));
    return changed;
  },
  'remove a byte': (content, random) => {
    const at = random(content.length);
    return Buffer.concat([content.subarray(0, at), content.subarray(at + 1)]);
  },
  'insert a byte': (content, random) => {
    const at = random(content.length + 1);
    return Buffer.concat([content.subarray(0, at), Buffer.from([random(256)]), content.subarray(at)]);
  },
  'swap two bytes': (content, random) => {
    const changed = Buffer.from(content);
    const [a, b] = [random(content.length), random(content.length)];
    [changed[a], changed[b]] = [changed[b]!, changed[a]!];
    return changed;
  },
  'remove a line': mutateLines((lines, random) => lines.toSpliced(random(lines.length), 1)),
  'repeat a line': mutateLines((lines, random) => {
    const at = random(lines.length);
    return lines.toSpliced(at, 0, lines[at]!);
  }),
  'swap two lines': mutateLines((lines, random) => {
    const [a, b] = [random(lines.length), random(lines.length)];
    return lines.with(a, lines[b]!).with(b, lines[a]!);
  }),
  'cut the end': (content, random) => content.subarray(0, random(content.length)),
};

const FILE_MUTATIONS: Readonly<
  Record<string, (files: readonly PackedFile[], random: (bound: number) => number) => readonly PackedFile[]>
> = {
  'remove a file': (files, random) => files.toSpliced(random(files.length), 1),
  'repeat a file': (files, random) => files.toSpliced(random(files.length), 0, files[random(files.length)]!),
  'swap two files': (files, random) => {
    const [a, b] = [random(files.length), random(files.length)];
    return files.with(a, files[b]!).with(b, files[a]!);
  },
  'swap two contents': (files, random) => {
    const [a, b] = [random(files.length), random(files.length)];
    return files
      .with(a, { path: files[a]!.path, content: files[b]!.content })
      .with(b, { path: files[b]!.path, content: files[a]!.content });
  },
  'rename a file': (files, random) => {
    const at = random(files.length);
    return files.with(at, { ...files[at]!, path: `${files[at]!.path.slice(0, -1)}x` });
  },
};

function isSame(a: readonly PackedFile[], b: readonly PackedFile[]): boolean {
  return (
    a.length === b.length &&
    a.every(({ path, content }, index) => b[index]!.path === path && b[index]!.content.equals(content))
  );
}

for (const tenantId of [null, 'acme']) {
  test(`every random change of a file is found: ${tenantId ?? 'all tenants'}`, async (t) => {
    const trail = await makeEvidenceLog(t);
    const path = await writeTestPack(trail, { tenant_id: tenantId });
    const files = await unpack(path);
    const random = openRandom(SEED);
    const target = join(trail.state, 'mutated.tar.gz');
    const counts = { found: 0, unchanged: 0, compared: 0 };
    const missed: string[] = [];
    for (let number = 0; number < COUNT; number++) {
      const { name, mutated } = mutate(files, random);
      const unchanged = isSame(files, mutated);
      await repack(mutated, target);
      const { broken } = await verifyTestPack(target);
      if (unchanged !== (broken === null)) missed.push(`${number} ${name} ${JSON.stringify(broken)}`);
      counts[unchanged ? 'unchanged' : 'found'] += 1;
      if (number % 25 !== 0) continue;
      counts.compared += 1;
      const told = await run(process.execPath, [VERIFIER_FILE, target, '--json']).catch((error) => error);
      assert.deepEqual(JSON.parse(told.stdout).broken, broken, `both verifiers: ${name}`);
    }
    assert.deepEqual(missed, []);
    assert.ok(
      counts.found > COUNT * 0.9 && counts.compared === Math.ceil(COUNT / 25),
      JSON.stringify(counts),
    );
  });
}

function mutate(files: readonly PackedFile[], random: (bound: number) => number) {
  const names = Object.keys(CONTENT_MUTATIONS);
  const fileNames = Object.keys(FILE_MUTATIONS);
  if (random(5) === 0) {
    const name = fileNames[random(fileNames.length)]!;
    return { name, mutated: FILE_MUTATIONS[name]!(files, random) };
  }
  const name = names[random(names.length)]!;
  const at = random(files.length);
  const file = files[at]!;
  const content = CONTENT_MUTATIONS[name]!(file.content, random);
  return { name: `${name} in ${file.path}`, mutated: files.with(at, { path: file.path, content }) };
}

test('every random change of an extracted file is found', async (t) => {
  const trail = await makeEvidenceLog(t, 40);
  const files = await unpack(await writeTestPack(trail));
  const folder = await mkdtemp(join(trail.state, 'extracted-'));
  await extractTo(folder, files);
  const random = openRandom(SEED + 7);
  let found = 0;
  for (let number = 0; number < COUNT / 4; number++) {
    const { path, content } = files[random(files.length)]!;
    const names = Object.keys(CONTENT_MUTATIONS);
    const changed = CONTENT_MUTATIONS[names[random(names.length)]!]!(content, random);
    await writeFile(join(folder, path), changed);
    const { broken } = await verifyTestPack(folder);
    assert.equal(broken === null, changed.equals(content), `${number} ${path}`);
    found += Number(broken !== null);
    await writeFile(join(folder, path), content);
  }
  assert.ok(found > COUNT / 5);
  assert.equal((await verifyTestPack(folder)).broken, null);
});

test('a random change of the bytes of an archive is found, or has changed no file', async (t) => {
  const trail = await makeEvidenceLog(t, 40);
  const path = await writeTestPack(trail);
  const [bytes, files] = [await readFile(path), await unpack(path)];
  const random = openRandom(SEED + 11);
  const target = join(trail.state, 'raw.tar.gz');
  const counts = { found: 0, harmless: 0 };
  const names = ['flip a bit', 'remove a byte', 'insert a byte', 'swap two bytes', 'cut the end'];
  for (let number = 0; number < COUNT; number++) {
    const name = names[random(names.length)]!;
    await writeFile(target, CONTENT_MUTATIONS[name]!(bytes, random));
    const { broken } = await verifyTestPack(target);
    if (broken !== null) counts.found += 1;
    else {
      assert.ok(isSame(await unpack(target), files), `${number} ${name}`);
      counts.harmless += 1;
    }
  }
  await rm(target);
  assert.ok(counts.found > COUNT * 0.9, JSON.stringify(counts));
});

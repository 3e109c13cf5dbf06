/** The versions of Node in which the SDK can be installed without a warning about the packages that it loads. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from '../support/checkout.ts';

interface Manifest {
  readonly engines?: { readonly node?: string };
  readonly dependencies: Readonly<Record<string, string>>;
}

function readManifest(path: string): Manifest {
  return JSON.parse(readFileSync(join(root, path), 'utf8')) as Manifest;
}

/** Returns the smallest version of Node as `major * 1000 + minor`, from a range such as `>= 20.19.0`; 0 if any will do. */
function readNodeMin({ engines }: Manifest): number {
  const range = /^>= ?(\d+)(?:\.(\d+))?/.exec(engines?.node ?? '>=0');
  assert.ok(range !== null, engines?.node);
  return Number(range[1]) * 1_000 + Number(range[2] ?? 0);
}

test('the package names a version of Node that every package of the SDK accepts, and no later one', () => {
  const own = readManifest('package.json');
  const texts = globSync('src/{core,sdk}/**/*.ts', { cwd: root })
    .filter((file) => !file.endsWith('.test.ts') && !file.includes('/testing/'))
    .map((file) => readFileSync(join(root, file), 'utf8'));
  const loaded = Object.keys(own.dependencies).filter((name) =>
    texts.some((text) => text.includes(`from '${name}`)),
  );
  assert.ok(loaded.length >= 5, loaded.join());
  const needed = loaded.map((name) => readNodeMin(readManifest(`node_modules/${name}/package.json`)));
  assert.equal(readNodeMin(own), Math.max(...needed));
});

/** The package and the list of its packages have the same bytes wherever they are built. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { buildSbom } from '../../scripts/release/sbom.ts';
import { getPackageVersion } from '../../src/platform/version.ts';
import { root } from '../support/checkout.ts';
import { type BuiltPackage, buildPackageCopy, packCopy } from './support/package-copy.ts';
import { installForTests, needProgram, run } from './support/programs.ts';

const dir = mkdtempSync(join(tmpdir(), 'reproducible-'));
const built: BuiltPackage[] = [];
const getDigest = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex');
after(() => rmSync(dir, { recursive: true, force: true }));

before(async () => {
  const builds = [
    ['one', 'UTC'],
    ['another/longer/path', 'Asia/Kathmandu'],
  ] as const;
  built.push(...(await Promise.all(builds.map(([name, TZ]) => buildPackageCopy(join(dir, name), { TZ })))));
});

test('two builds in two folders give the same bytes, and another file gives others', async (t) => {
  const [one, another] = built.map(({ archive }) => getDigest(archive));
  t.diagnostic(`sha256 ${one}`);
  assert.equal(one, another);
  appendFileSync(join(built[1]!.copy, 'release/npm/README.md'), '\n');
  assert.notEqual(getDigest(await packCopy(built[1]!.copy)), one);
});

test('the list of packages is valid CycloneDX, complete, and the same each time', () => {
  const time = '2026-01-01T00:00:00.000Z';
  const text = buildSbom(root, time);
  assert.equal(buildSbom(built[0]!.copy, time), text);
  const { components, metadata, dependencies } = JSON.parse(text);
  assert.deepEqual(
    [metadata.component.name, metadata.component.version],
    ['customshouse', getPackageVersion()],
  );
  const names = new Set(components.map(({ name }: { name: string }) => name));
  const { dependencies: own, devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  for (const name of [...Object.keys(own), 'react']) assert.ok(names.has(name), name);
  for (const name of ['typescript', 'playwright-core'])
    assert.ok(name in devDependencies && !names.has(name), name);
  const refs = new Set(dependencies.map(({ ref }: { ref: string }) => ref));
  for (const component of components) assert.ok(refs.has(component['bom-ref']), component['bom-ref']);
  installForTests('deploy-python');
  const script = `import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
error = JsonStrictValidator(SchemaVersion.V1_5).validate_str(open(sys.argv[1]).read())
sys.exit(0 if error is None else str(error)[:2000])`;
  const validate = (name: string, content: string) => {
    writeFileSync(join(dir, name), content);
    return run(needProgram('deploy-python'), ['-c', script, join(dir, name)]);
  };
  const valid = validate('sbom.json', text);
  assert.equal(valid.code, 0, valid.output);
  assert.equal(validate('wrong.json', text.replace('"bomFormat"', '"format"')).code, 1);
});

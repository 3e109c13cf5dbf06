/** The systemd unit: systemd accepts it, and its exposure stays low. */
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { runInProcess } from '../../src/entry/cli/testing/run.ts';
import { DEPLOY, explainMissing, needProgram, run } from './support/programs.ts';

const UNIT = join(DEPLOY, 'systemd/customshouse.service');
/** Of 10, from systemd 252 on. The page names it too. */
const EXPOSURE_MAX = 1.3;
const skip = explainMissing('systemd');

/** Returns a copy of the unit whose programs exist on every machine. */
function copyUnit(dir: string, change: (text: string) => string = (text) => text): string {
  const file = join(dir, 'customshouse.service');
  const text = readFileSync(UNIT, 'utf8').replaceAll('/usr/local/bin/customshouse', process.execPath);
  writeFileSync(file, change(text));
  return file;
}

test('systemd accepts the unit, and rates its exposure', { skip }, (t) => {
  const analyze = needProgram('systemd');
  const dir = mkdtempSync(join(tmpdir(), 'unit-'));
  try {
    const verified = run(analyze, ['verify', copyUnit(dir)]);
    assert.deepEqual(
      [verified.code, verified.output.match(/customshouse\.service.*/g)],
      [0, null],
      verified.output,
    );
    const mistaken = run(analyze, [
      'verify',
      copyUnit(dir, (text) => text.replace('ProtectSystem=strict', 'ProtectSystem=most')),
    ]);
    assert.match(mistaken.output, /customshouse\.service:\d+: /);
    const { output } = run(analyze, ['security', '--offline=true', copyUnit(dir)]);
    const exposure = Number(/Overall exposure level for customshouse\.service: ([\d.]+)/.exec(output)?.[1]);
    t.diagnostic(`exposure: ${exposure} of 10`);
    assert.ok(exposure <= EXPOSURE_MAX, output);
    const page = readFileSync(join(DEPLOY, '../docs/how-to/deploy.md'), 'utf8');
    assert.ok(page.includes(`exposure ${exposure.toFixed(1)}`), `the page names ${exposure}`);
  } finally {
    rmSync(dir, { recursive: true });
  }
});

test('the configuration next to it is valid, and needs a credential', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'unit-'));
  try {
    cpSync(join(DEPLOY, 'systemd/service.yaml'), join(dir, 'service.yaml'));
    const { code, stderr } = await runInProcess(['validate'], { cwd: dir });
    assert.equal(code, 0, stderr);
    const unit = readFileSync(UNIT, 'utf8');
    assert.match(readFileSync(join(dir, 'service.yaml'), 'utf8'), /required: true/);
    for (const path of ['/etc/customshouse/service.yaml', 'StateDirectory=customshouse'])
      assert.ok(unit.includes(path));
  } finally {
    rmSync(dir, { recursive: true });
  }
});

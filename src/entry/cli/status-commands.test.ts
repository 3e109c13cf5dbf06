/** Commands that show what is installed and active: status, config show, detectors. None of them writes anything. */
import assert from 'node:assert/strict';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { buildDetectorCatalogue } from '../../core/detect/registry/detector-catalogue.ts';
import { runInProcess, startProgram, withFolder } from './testing/run.ts';

test('status says that nothing runs, and describes what does', async () => {
  await withFolder(async (cwd) => {
    const none = await runInProcess(['status', '--json'], { cwd });
    assert.deepEqual([none.code, JSON.parse(none.stdout).running], [1, false]);
    assert.deepEqual(await readdir(cwd), []);
    await writeFile(join(cwd, 'service.yaml'), 'server: {port: 0}\n');
    const service = await startProgram(['serve'], { cwd, until: 'Try it' });
    try {
      const found = await runInProcess(['status', '--json'], { cwd });
      const { running, service: own, config_file } = JSON.parse(found.stdout);
      assert.deepEqual([found.code, running, own.pid], [0, true, service.pid]);
      assert.match(own.policy_hash, /^sha256:/);
      assert.equal(config_file, join(cwd, 'service.yaml'));
      assert.match(
        (await runInProcess(['status'], { cwd })).stdout,
        /^Service running\n {2}Address {4}http:/,
      );
    } finally {
      await service.stop('SIGTERM');
    }
  });
});

test('config show names the value and the source of every setting, and writes nothing', async () => {
  await withFolder(async (cwd) => {
    const all = JSON.parse((await runInProcess(['config', 'show', '--json'], { cwd })).stdout);
    assert.equal(all.config_file, null);
    assert.ok(all.settings.every(({ source }: { source: string }) => source === 'default'));
    assert.deepEqual(await readdir(cwd), []);
    await writeFile(join(cwd, 'service.yaml'), 'server: {port: 8123}\n');
    const changed = await runInProcess(['config', 'show', '--changed'], { cwd });
    assert.match(changed.stdout, /^server\.port {2}8123 {3}file:1$/m);
    const section = JSON.parse((await runInProcess(['config', 'show', 'server', '--json'], { cwd })).stdout);
    assert.ok(section.settings.length > 3);
    const unknown = await runInProcess(['config', 'show', 'servr'], { cwd });
    assert.deepEqual([unknown.code, /no setting `servr`/.test(unknown.stderr)], [1, true]);
  });
});

test('every detector is listed, and shown with its examples', async () => {
  await withFolder(async (cwd) => {
    const { detectors } = JSON.parse((await runInProcess(['detectors', 'list', '--json'], { cwd })).stdout);
    assert.equal(detectors.length, buildDetectorCatalogue().length);
    assert.equal(new Set(detectors.map(({ id }: { id: string }) => id)).size, detectors.length);
    const mail = await runInProcess(['detectors', 'list', '--tag', 'personal.pii.email'], { cwd });
    assert.match(mail.stdout, /^email\.address +email +\w+ +personal\.pii\.email$/m);
    const one = await runInProcess(['detectors', 'show', 'github.token'], { cwd });
    assert.match(
      one.stdout,
      /^github\.token {2}critical\n[\s\S]*\nFinds\n {2}\S[\s\S]*\nDoes not find\n {2}\S/,
    );
    const near = await runInProcess(['detectors', 'show', 'github.tokn'], { cwd });
    assert.deepEqual([near.code, /did you mean `github\.token`\?/.test(near.stderr)], [1, true]);
    const wrong = await runInProcess(['detectors', 'list', '--tag', 'Not A Tag'], { cwd });
    assert.equal(wrong.code, 2);
    assert.deepEqual(await readdir(cwd), []);
  });
});

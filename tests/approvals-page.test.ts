/** Runs the tutorial on approvals and compares every answer that the page shows. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { root, runShell } from './support/checkout.ts';
import { assertShown, getBlocks } from './support/pages.ts';
import { startTestService } from './support/service.ts';

const MARK = '--- the next block ---';

test('the walk through approvals leads where the page says', { timeout: 120_000 }, async () => {
  const page = readFileSync(join(root, 'docs/how-to/approve-tool-calls.md'), 'utf8');
  const walk = page.slice(page.indexOf('## Request, approve'), page.indexOf('## Decide in a terminal'));
  const [configured, ...blocks] = getBlocks(walk);
  assert.equal(configured?.language, 'yaml');
  const bin = mkdtempSync(join(tmpdir(), 'service-approvals-'));
  symlinkSync(join(root, 'customshouse'), join(bin, 'customshouse'));
  const service = await startTestService({ config: configured.text });
  try {
    // One shell for all blocks, because one sets a variable that the next uses.
    const script = blocks.filter(({ language }) => language === 'sh').map(({ text }) => text);
    const joined = script.join(`\necho '${MARK}'\n`).replaceAll('http://127.0.0.1:8000', service.url);
    const ran = await runShell(joined, { cwd: service.dir, bin });
    assert.equal(ran.code, 0, ran.stderr);
    const printed = ran.stdout.split(MARK);
    let answers = 0;
    for (const [at, { language, text, line }] of blocks.entries()) {
      if (language !== 'json') continue;
      assert.equal(blocks[at - 1]?.language, 'sh');
      assertShown(
        JSON.parse(printed[answers] ?? ''),
        JSON.parse(text),
        `docs/how-to/approve-tool-calls.md, block at line ${line}`,
      );
      answers += 1;
    }
    assert.deepEqual([answers, printed.length], [5, 5]);
  } finally {
    await service.stop();
    rmSync(bin, { recursive: true, force: true });
  }
});

import assert from 'node:assert/strict';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { dialects } from '../../src/coding-agents/index.ts';
import { bundleHook } from './hook.ts';

test('the hook bundles the dialect of every coding agent, and nothing that only setup and doctor use', async () => {
  const out = mkdtempSync(join(tmpdir(), 'hook-bundle-'));
  try {
    const sources = await bundleHook(out, '0.0.0');
    const ofAgents = sources.filter((path) => path.startsWith('src/coding-agents/'));
    assert.equal(ofAgents.filter((path) => path.endsWith('/dialect.ts')).length, dialects.length);
    assert.deepEqual(
      ofAgents.filter((path) => /\/(?:settings|transcript|doctor|traces|setup|transcripts)\b/.test(path)),
      [],
    );
    const [main] = globSync(join(out, '**', 'main.cjs'));
    // It takes a fifth of the time of a hook that a daemon answers.
    assert.doesNotMatch(readFileSync(main!, 'utf8'), /require\("node:crypto"\)/);
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
});

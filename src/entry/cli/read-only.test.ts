import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { runInProcess } from './testing/run.ts';

const scratch = mkdtempSync(join(tmpdir(), 'read-only-'));
after(() => rmSync(scratch, { recursive: true, force: true }));

/** Every command that only reads. Those with `says` exit with 2 and name the folder that they searched. */
const READS: readonly { readonly args: string; readonly says?: RegExp }[] = [
  { args: 'agents list' },
  { args: 'approvals list', says: /no store at/ },
  { args: 'approvals show apr_0123456789abcdef', says: /no store at/ },
  { args: 'audit verify', says: /no journal in/ },
  { args: 'capabilities list' },
  { args: 'completion bash' },
  { args: 'cost budget' },
  { args: 'cost prices' },
  { args: 'cost report' },
  { args: 'cost summary' },
  { args: 'fingerprint list' },
  { args: 'logs', says: /no journal at `.*\.service\/journal`/ },
  { args: 'logs --last 24h --json', says: /no journal at/ },
  { args: 'logs --follow', says: /no journal at/ },
  { args: 'mcp pins list' },
  { args: 'observe agents', says: /no journal at/ },
  { args: 'observe sessions sess-1', says: /no journal at/ },
  { args: 'plugins list' },
  { args: 'policy evaluate --boundary input --data-tags secret' },
  { args: 'policy explain evt_0123456789abcdef01234567', says: /no journal at/ },
  { args: 'policy lint' },
  { args: 'policy replay --with policies.yaml' },
  { args: 'policy test' },
  { args: 'skills list' },
  { args: 'templates list' },
  { args: 'token show operator' },
  { args: 'validate' },
];

test('a command that reads makes nothing where nothing is, and says where it looked', async () => {
  let ran = 0;
  for (const { args, says } of READS) {
    const cwd = join(scratch, `${ran}`);
    mkdirSync(cwd);
    const { code, stdout, stderr } = await runInProcess(args.split(' '), { cwd });
    assert.deepEqual(readdirSync(cwd), [], args);
    assert.doesNotMatch(stdout + stderr, /something is wrong in this program/, args);
    if (says !== undefined) {
      assert.equal(code, 2, `${args}: ${stdout}${stderr}`);
      assert.match(stdout + stderr, says, args);
      assert.ok((stdout + stderr).includes(cwd), args);
    }
    ran++;
  }
  assert.equal(ran, READS.length);
});

test('a journal that this user may not read is reported with its path', async (t) => {
  if (process.getuid?.() === 0) return t.diagnostic('root may read everything');
  const cwd = join(scratch, 'denied');
  mkdirSync(join(cwd, '.service', 'journal'), { recursive: true });
  chmodSync(join(cwd, '.service', 'journal'), 0);
  const { code, stderr } = await runInProcess(['logs'], { cwd });
  assert.equal(code, 2);
  assert.match(stderr, /`.*\.service\/journal` may not be read by this user/);
});

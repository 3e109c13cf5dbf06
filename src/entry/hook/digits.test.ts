import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { runHook } from './run-hook.ts';

const CONFIG = `policies:
  - { name: calls, boundary: action, data_tags: [personal], action: redact }
  - { name: results, boundary: action, data_tags: [personal], action: redact, condition: { phase: response } }
`;

const input = (text: string) =>
  `{"id":1234567890123456789,"10":1.0,"2":[1e3,-0],"note":"${text}","z":"\\u00e9"}`;

async function runHookIn(
  cwd: string,
  payload: string,
): Promise<{ stdout: string; stderr: string; code: number }> {
  let stdout = '';
  let stderr = '';
  const code = await new Promise<number>((exit) => {
    const env = { SERVICE_HOOK_DAEMON: 'off', HOME: cwd };
    const write = (fd: 1 | 2, text: string) => {
      if (fd === 1) stdout += text;
      else stderr += text;
    };
    async function* streamPayload() {
      yield Buffer.from(payload);
    }
    void runHook({
      args: ['--config', join(cwd, 'service.yaml')],
      env,
      cwd,
      stdin: streamPayload(),
      write,
      exit,
    });
  });
  return { stdout, stderr, code };
}

test('a hook hands arguments over with one text masked and every other byte as it was', async () => {
  const cwd = mkdtempSync(join(tmpdir(), 'hook-digits-'));
  writeFileSync(join(cwd, 'service.yaml'), CONFIG);
  const mail = ['jane.doe', 'corp-mail.io'].join('@');
  const claude = (text: string) =>
    `{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Send","tool_input":${input(text)}}`;
  const cases: readonly [string, string][] = [
    [claude(mail), `"updatedInput":${input('[REDACTED]')}`],
    [`{"tool":"send","input":${input(mail)}}`, `"modified_input":${input('[REDACTED]')}`],
    [`{"tool":"send","output":[${input(mail)}]}`, `"modified_output":[${input('[REDACTED]')}]`],
  ];
  let ran = 0;
  try {
    for (const [payload, part] of cases) {
      const { stdout, code } = await runHookIn(cwd, payload);
      assert.equal(code, 0);
      assert.ok(stdout.includes(part), stdout);
      ran += 1;
    }
    assert.equal(ran, 3);
    const twins = await runHookIn(cwd, '{"tool":"send","input":{"a":1,"a":2}}');
    assert.equal(twins.code, 2);
    assert.match(twins.stderr, /two members of one name/);
  } finally {
    rmSync(cwd, { recursive: true });
  }
});

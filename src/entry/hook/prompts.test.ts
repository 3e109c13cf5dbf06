import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { runHook } from './run-hook.ts';

const KEY = ['AKIA', 'QWERTZUIOPASDFGH'].join('');
const MAIL = 'Write to ada@corp-mail.io about it.';

async function sendPrompt(folder: string, dialect: string, prompt: string): Promise<string> {
  let answer = '';
  const names: Readonly<Record<string, object>> = {
    'claude-code': { hook_event_name: 'UserPromptSubmit', session_id: 's1', prompt },
    codex: { hook_event_name: 'UserPromptSubmit', session_id: 's1', prompt },
    gemini: { hook_event_name: 'BeforeAgent', session_id: 's1', prompt },
    cursor: { hook_event_name: 'beforeSubmitPrompt', conversation_id: 'c1', prompt },
  };
  await new Promise<void>((resolve) => {
    void runHook({
      args: ['--dialect', dialect],
      env: { SERVICE_HOOK_DAEMON: 'off', USER: 'ada' },
      cwd: folder,
      stdin: Readable.from([Buffer.from(JSON.stringify(names[dialect]))]),
      write: (_fd, text) => {
        answer += text;
      },
      exit: () => resolve(),
    });
  });
  return answer;
}

function readRecordedDecisions(
  folder: string,
): readonly { readonly action: string; readonly decision: string }[] {
  const journal = join(folder, '.service', 'journal');
  return readdirSync(journal, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile())
    .flatMap((each) => readFileSync(join(each.parentPath, each.name), 'utf8').split('\n'))
    .filter((line) => line.includes('"policy_name":"builtin.personal.input"'))
    .map((line) => JSON.parse(line))
    .map((line) => line.event ?? line);
}

async function withFolder(text: string, run: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'hook-prompts-'));
  try {
    writeFileSync(join(folder, 'service.yaml'), text);
    await run(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const DIALECTS = ['claude-code', 'codex', 'gemini', 'cursor'];
const REFUSES = /"block"|"deny"|"continue":false/;

test('personal data in a prompt that cannot be redacted is flagged, and a secret is refused', async () => {
  await withFolder('pii_protection: {enabled: true, action: redact}\n', async (folder) => {
    for (const dialect of DIALECTS) {
      assert.doesNotMatch(await sendPrompt(folder, dialect, MAIL), REFUSES, dialect);
      assert.match(await sendPrompt(folder, dialect, `Use ${KEY} for it.`), REFUSES, dialect);
    }
    const events = readRecordedDecisions(folder);
    assert.deepEqual(
      events.map(({ action, decision }) => [action, decision]),
      DIALECTS.map(() => ['flag', 'allow']),
    );
    assert.match(JSON.stringify(events[0]), /pii_protection\.action: block/);
  });
});

test('who says `block`, or has a rule to redact, has such prompts refused, with the setting to change', async () => {
  await withFolder('pii_protection: {enabled: true, action: block}\n', async (folder) => {
    assert.match(await sendPrompt(folder, 'claude-code', MAIL), REFUSES);
  });
  const own = '{name: own-mask, boundary: input, data_tags: [personal], action: redact}';
  await withFolder(`policies: [${own}]\n`, async (folder) => {
    const answer = await sendPrompt(folder, 'claude-code', MAIL);
    assert.match(answer, /Claude Code cannot accept a redacted prompt, so it was blocked\./);
    assert.match(answer, /change the action of `own-mask` to `flag`/);
  });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JudgedFinding, Verdict } from '../../types/index.ts';
import { explainCommand } from './explain-rule.ts';
import { commandRules } from './rules/index.ts';

function explain(rule_ids: readonly string[], parts: Partial<Verdict> = {}): string | null {
  const findings = rule_ids.map((rule_id) => {
    const { tag, severity } = commandRules.find(({ id }) => id === rule_id) ?? {
      tag: 'x',
      severity: 'critical',
    };
    return { rule_id, tags: [tag], severity, action: 'block' } as unknown as JudgedFinding;
  });
  return explainCommand({ decision: 'block', action: 'block', findings, ...parts } as unknown as Verdict);
}

test('a denial names effect, rule, safer command and setting', () => {
  assert.equal(
    explain(['git.push_force']),
    'The command rewrites or deletes a branch that others have (`git.push_force`). Instead, for example: `git push --force-with-lease origin topic`. An operator can allow it with `customshouse allow git.push_force`.',
  );
});

test('the worst of the findings that decided is explained', () => {
  assert.match(explain(['git.clean', 'git.push_force', 'aws.access_key_id'])!, /`git\.push_force`/);
  assert.equal(explain(['aws.access_key_id']), null);
  assert.equal(explain([]), null);
  assert.equal(explain(['git.clean'], { action: 'require_approval' }), null);
  assert.equal(explain(['git.clean'], { decision: 'allow' }), null);
});

test('every rule has a line, and none allows the guard', () => {
  for (const { id, tag } of commandRules) {
    const line = explain([id])!;
    assert.match(line, /^The command [a-z][^\n]+ \(`[\w.]+`\)\. Instead, for example: `[^\n]+`\./, id);
    assert.equal(line.includes('An operator can allow'), !tag.startsWith('dangerous.guard'), id);
  }
});

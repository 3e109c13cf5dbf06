import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandRules } from '../detect/commands/rules/index.ts';
import type { JudgedFinding, Verdict } from '../types/index.ts';
import { explainDenial } from './denial-help.ts';

function explain(ruleIds: readonly string[], parts: Partial<Verdict> = {}): string | null {
  const findings = ruleIds.map((ruleId) => {
    const { tag, severity } = commandRules.find(({ id }) => id === ruleId) ?? {
      tag: 'x',
      severity: 'critical',
    };
    return { rule_id: ruleId, tags: [tag], severity, action: 'block' } as unknown as JudgedFinding;
  });
  const verdict = {
    decision: 'block',
    action: 'block',
    rule: 'stop',
    data_tags: [],
    findings,
    ...parts,
  } as unknown as Verdict;
  return explainDenial(verdict, [], 'evt_1');
}

test('a denial names effect, rule, safer command and setting', () => {
  assert.equal(
    explain(['git.push_force']),
    'The command rewrites or deletes a branch that others have (`git.push_force`). Instead, for example: `git push --force-with-lease origin topic`. An operator can allow it with `customshouse allow git.push_force`.',
  );
});

test('the worst of the findings that decided is explained', () => {
  assert.match(explain(['git.clean', 'git.push_force'])!, /`git\.push_force`.*customshouse allow evt_1`/);
  assert.match(explain([])!, /^Instead, continue without it\. An operator can put a rule before `stop`/);
  assert.equal(explain(['git.clean'], { decision: 'allow' }), null);
});

test('every rule has a line, and none allows the guard', () => {
  for (const { id, tag } of commandRules) {
    const line = explain([id])!;
    assert.match(line, /^The command [a-z][^\n]+ \(`[\w.]+`\)\. Instead, for example: `[^\n]+`\./, id);
    assert.equal(line.includes('An operator can allow'), !tag.startsWith('dangerous.guard'), id);
  }
});

/** The editor of policies: what completion offers by the place of the cursor, and how drafts of other pages are added. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import {
  type DocumentSchema,
  findYamlPlace,
  listCompletions,
} from '../../console/src/components/schema-completion.ts';
import { appendRecords } from '../../console/src/pages/policies/append-record.ts';
import { expectRows } from '../../src/core/testing/expect-rows.ts';

const FOLDER = resolve(import.meta.dirname, '..', '..', 'schemas');
const readSchema = (name: string): DocumentSchema =>
  JSON.parse(readFileSync(join(FOLDER, `${name}.schema.json`), 'utf8'));
const SCHEMAS = ['policy', 'tool-contract', 'agent-identity'].map(readSchema);

interface CompletionCase {
  readonly text: string;
  readonly offers: readonly string[];
  readonly withholds: readonly string[];
}

const CASES: readonly CompletionCase[] = [
  { text: 'pol', offers: ['policies', 'contracts'], withholds: ['boundary'] },
  { text: 'policies:\n  - na', offers: ['name', 'boundary'], withholds: ['policies', 'tool_name'] },
  { text: 'policies:\n- name: a\n  bo', offers: ['boundary', 'reason'], withholds: ['policies'] },
  {
    text: 'policies:\n  - name: a\n    action: ',
    offers: ['block', 'require_approval'],
    withholds: ['input'],
  },
  { text: 'policies:\n  - name: a\n    condition:\n      to', offers: ['tools'], withholds: ['boundary'] },
  { text: 'policies:\n  - name: a\n    condition: { to', offers: ['tools'], withholds: ['boundary'] },
  {
    text: 'policies:\n  - name: a\n    boundary:\n      - ',
    offers: [],
    withholds: ['name', 'policies'],
  },
  {
    text: 'contracts:\n  - tool_name: a\n    ac',
    offers: ['accepts', 'allowed_agents'],
    withholds: ['boundary'],
  },
  { text: 'policies:\n  - unknown:\n      x', offers: [], withholds: ['name', 'policies'] },
];

test('completion offers the keys and values of the place, and no others', () => {
  for (const { text, offers, withholds } of expectRows(9, CASES)) {
    const labels = listCompletions(SCHEMAS, findYamlPlace(text)).map(({ label }) => label);
    for (const label of offers) assert.ok(labels.includes(label), `${text}: ${label} of ${labels}`);
    for (const label of withholds) assert.ok(!labels.includes(label), `${text}: not ${label}`);
  }
});

test('a draft is added at the end of its list, and everything else stays', () => {
  const record = '- name: added\n  action: block';
  assert.equal(
    appendRecords('', 'policies', record),
    'version: v1alpha1\npolicies:\n  - name: added\n    action: block\n',
  );
  const kept = appendRecords('# why\npolicies:\n  - name: first # kept\n', 'policies', record);
  assert.equal(kept, '# why\npolicies:\n  - name: first # kept\n  - name: added\n    action: block\n');
  const both = appendRecords(kept, 'contracts', '- tool_name: mail');
  assert.equal(both, `${kept}---\nversion: v1alpha1\ncontracts:\n  - tool_name: mail\n`);
  const more = appendRecords(both, 'contracts', '- tool_name: post');
  assert.equal(more, `${both}  - tool_name: post\n`);
  const own = 'policies:\n- name: first\n  action: block\n';
  assert.equal(appendRecords(own, 'policies', record), `${own}${record}\n`, 'entries keep their column');
  const part = '# Skill x 1.0.0 begins, sha256 0\npolicies:\n  - name: a\n# Skill x ends\n';
  assert.ok(appendRecords(part, 'policies', record).startsWith(`${part}---\n`), 'installed text stays');
});

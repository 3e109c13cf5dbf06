import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseNamedDetection } from '../../core/policy/compile/named-detection.ts';
import { conditionCompiler } from '../../core/policy/conditions/cel.ts';
import { POLICY_SETTINGS } from '../../core/testing/policies.ts';
import { addManagedPolicy, findManagedOrigin, readAllDocuments } from './managed-input.ts';

test('rules of the managed policy are recognized by their label, and those of files are not', async () => {
  const input = {
    ...{ inline_rules: [], documents: [], settings: POLICY_SETTINGS },
    ...{ parseNamed: parseNamedDetection, conditions: conditionCompiler },
  };
  const tenants = [{ tenant_id: 'acme', version: 3, policies: [] }];
  const [set] = addManagedPolicy(input, { tenants, allowlist: [] }).inline_rules;
  const document = { version: 2, text: 'version: v1alpha1\npolicies: []\n' };
  const { documents } = await readAllDocuments([], { tenants: [], allowlist: [], document });
  const labels = [set?.file, documents[0]?.file, 'service.yaml', 'policies/of-tenants.yaml'];
  assert.deepEqual(
    labels.map((label) => findManagedOrigin(label ?? '')),
    ['tenant_set', 'document', null, null],
  );
});

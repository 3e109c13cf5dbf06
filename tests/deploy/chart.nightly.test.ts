/** Helm renders the chart, Kubernetes' schemas accept what it renders, and the program its configuration. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { before, test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { runInProcess } from '../../src/entry/cli/testing/run.ts';
import { getBlocks } from '../support/pages.ts';
import { DEPLOY, installForTests, needProgram, run } from './support/programs.ts';

const CHART = join(DEPLOY, 'helm/customshouse');
const KUBERNETES = '1.37.0';
/** Kinds of the Prometheus Operator, for which Kubernetes has no schema. */
const CUSTOM = ['ServiceMonitor', 'PrometheusRule'];

before(() => installForTests('helm', 'deploy-python'));

// biome-ignore lint/suspicious/noExplicitAny: manifests of many kinds.
type Manifest = any;

function render(...words: readonly string[]): { readonly code: number | null; readonly output: string } {
  const about = ['template', 'safe', CHART, '--kube-version', KUBERNETES, '--namespace', 'agents'];
  return run(needProgram('helm'), [...about, ...words]);
}

function renderAll(...words: readonly string[]): Map<string, Manifest> {
  const { code, output } = render(...words);
  assert.equal(code, 0, output);
  const manifests = parseAllDocuments(output).map((document): Manifest => {
    assert.deepEqual(document.errors, []);
    return document.toJS();
  });
  return new Map(manifests.map((each) => [`${each.kind}/${each.metadata.name}`, each]));
}

const PLAIN = ['NetworkPolicy', 'Service', 'ServiceAccount', 'StatefulSet', 'ConfigMap'];
const CASES: readonly {
  readonly name: string;
  readonly words: readonly string[];
  readonly kinds: readonly string[];
}[] = [
  { name: 'default', words: [], kinds: PLAIN },
  {
    name: 'postgresql',
    words: ['--values', join(CHART, 'ci/postgresql-values.yaml')],
    kinds: [...PLAIN, 'PodDisruptionBudget', 'HorizontalPodAutoscaler'],
  },
  { name: 'gateway', words: ['--values', join(CHART, 'ci/gateway-values.yaml')], kinds: PLAIN },
  {
    name: 'monitoring',
    words: ['--values', join(CHART, 'ci/monitoring-values.yaml')],
    kinds: [...PLAIN, ...CUSTOM],
  },
  {
    name: 'few parts',
    words: ['--set', 'networkPolicy.enabled=false,serviceAccount.create=false,persistence.storageClass=fast'],
    kinds: ['Service', 'StatefulSet', 'ConfigMap'],
  },
];

test('helm lint has nothing to say', () => {
  const { code, output } = run(needProgram('helm'), ['lint', '--strict', CHART]);
  assert.equal(code, 0, output);
  assert.ok(!/WARNING|ERROR/.test(output), output);
});

for (const { name, words, kinds } of CASES)
  test(`the manifests and the configuration are valid: ${name}`, async () => {
    const manifests = renderAll(...words);
    assert.deepEqual([...new Set([...manifests.values()].map(({ kind }) => kind))].sort(), [...kinds].sort());
    const dir = mkdtempSync(join(tmpdir(), 'chart-'));
    try {
      const file = join(dir, 'manifests.yaml');
      const checked = [...manifests.values()].filter(({ kind }) => !CUSTOM.includes(kind));
      writeFileSync(file, checked.map((each) => JSON.stringify(each)).join('\n---\n'));
      const validate = needProgram('deploy-python', 'kubernetes-validate');
      const { code, output } = run(validate, [
        '--strict',
        '--kubernetes-version',
        KUBERNETES.slice(0, 4),
        file,
      ]);
      assert.equal(code, 0, output);
      assert.equal(output.match(/passed for resource/g)?.length, checked.length, output);
      checkPod(manifests);
      await checkConfiguration(manifests, join(dir, 'mount'));
    } finally {
      rmSync(dir, { recursive: true });
    }
  });

/** Checks what the restricted Pod Security Standard demands, and that each mount has its volume. */
function checkPod(manifests: ReadonlyMap<string, Manifest>): void {
  const { spec } = manifests.get('StatefulSet/safe-customshouse');
  const pod = spec.template.spec;
  const [container] = pod.containers;
  assert.equal(pod.securityContext.runAsNonRoot, true);
  assert.equal(pod.securityContext.runAsUser, 10001);
  assert.equal(pod.securityContext.seccompProfile.type, 'RuntimeDefault');
  assert.deepEqual(container.securityContext, {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    privileged: false,
    capabilities: { drop: ['ALL'] },
  });
  for (const [probe, path] of [
    ['startupProbe', '/v1/health'],
    ['livenessProbe', '/v1/health'],
    ['readinessProbe', '/v1/ready'],
  ])
    assert.equal(container[probe!].httpGet.path, path);
  const volumes = [...pod.volumes, ...spec.volumeClaimTemplates.map(({ metadata }: Manifest) => metadata)];
  assert.deepEqual(
    container.volumeMounts.map(({ name }: Manifest) => name).sort(),
    volumes.map(({ name }: Manifest) => name).sort(),
  );
  assert.equal(spec.serviceName, manifests.get('Service/safe-customshouse-nodes').metadata.name);
  for (const each of manifests.values())
    if (each.kind === 'Service') assert.deepEqual(each.spec.selector, spec.selector.matchLabels);
}

/** Writes the ConfigMap as Kubernetes mounts it, and has the program validate it with a value for each variable. */
async function checkConfiguration(manifests: ReadonlyMap<string, Manifest>, mount: string): Promise<void> {
  const { data } = manifests.get('ConfigMap/safe-customshouse');
  const { volumes, containers } = manifests.get('StatefulSet/safe-customshouse').spec.template.spec;
  const { items } = volumes.find(({ name }: Manifest) => name === 'configuration').configMap;
  assert.equal(items.length, Object.keys(data).length);
  for (const { key, path } of items) {
    mkdirSync(dirname(join(mount, path)), { recursive: true });
    writeFileSync(join(mount, path), data[key]);
  }
  const env = Object.fromEntries(
    containers[0].env?.map(({ name }: Manifest) => [name, 'k'.repeat(40)]) ?? [],
  );
  const { code, stdout, stderr } = await runInProcess(['validate', '--json'], { cwd: mount, env });
  assert.equal(code, 0, stdout + stderr);
  assert.equal(JSON.parse(stdout).valid, true);
  for (const name of Object.keys(env).filter((each) => each !== 'CUSTOMSHOUSE_NODE_ID'))
    assert.ok(data['service.yaml'].includes(`\${${name}}`), name);
}

test('the manifest of the page for a sidecar is valid', () => {
  const page = readFileSync(join(DEPLOY, '../docs/how-to/deploy.md'), 'utf8');
  const [manifest] = getBlocks(page).filter(({ text }) => text.startsWith('apiVersion: v1\nkind: Pod'));
  const dir = mkdtempSync(join(tmpdir(), 'chart-'));
  try {
    const file = join(dir, 'pod.yaml');
    writeFileSync(file, manifest!.text);
    const words = ['--strict', '--kubernetes-version', KUBERNETES.slice(0, 4), file];
    const { code, output } = run(needProgram('deploy-python', 'kubernetes-validate'), words);
    assert.equal(code, 0, output);
    assert.match(output, /passed for resource pod/);
  } finally {
    rmSync(dir, { recursive: true });
  }
});

test('values that would mix up or lose state are refused', () => {
  const rows: readonly (readonly [words: readonly string[], expected: RegExp])[] = [
    [['--set', 'replicas=2'], /needs a shared store: set postgresql\.enabled/],
    [['--set', 'autoscaling.enabled=true'], /needs a shared store/],
    [
      ['--set', 'replicas=2,postgresql.enabled=true,postgresql.host=db,postgresql.existingSecret=s'],
      /same keys/,
    ],
    [['--set', 'cluster.existingSecret=s'], /cluster\.existingSecret needs a shared store/],
    [['--set', 'postgresql.enabled=true'], /needs postgresql\.host and postgresql\.existingSecret/],
    [['--set', 'replica=2'], /additional properties 'replica' not allowed/],
  ];
  for (const [words, expected] of rows) {
    const { code, output } = render(...words);
    assert.notEqual(code, 0, words.join(' '));
    assert.match(output, expected);
  }
  assert.equal(rows.length, 6);
});

test('a changed configuration starts the nodes again', () => {
  const getChecksum = (...words: readonly string[]): string =>
    renderAll(...words).get('StatefulSet/safe-customshouse').spec.template.metadata.annotations[
      'checksum/configuration'
    ];
  assert.notEqual(getChecksum(), getChecksum('--set', 'config.policy.default_action=flag'));
  assert.equal(getChecksum(), getChecksum('--set', 'resources.limits.memory=2Gi'));
});

test('the alert rules arrive unchanged', () => {
  const rules = renderAll('--values', join(CHART, 'ci/monitoring-values.yaml')).get(
    'PrometheusRule/safe-customshouse',
  );
  const expressions = rules.spec.groups[0].rules.map(({ expr }: Manifest) => expr);
  assert.ok(expressions.length >= 10);
  assert.ok(JSON.stringify(rules).includes('{{ $labels.instance }}'));
  assert.equal(rules.metadata.labels.release, 'prometheus');
});

import { useState } from 'react';
import { parse, stringify } from 'yaml';
import type { OperationInput, OperationOutput } from '../../api/client.ts';
import { useMayCall } from '../../api/session.ts';
import { useOperation, useOperationCall } from '../../api/use-operation.ts';
import { Button } from '../../components/button.tsx';
import { ErrorNote } from '../../components/error-note.tsx';
import { JsonDiff } from '../../components/json-diff.tsx';
import { Panel } from '../../components/page-header.tsx';
import { revealHidden, SafeText } from '../../components/safe-text.tsx';
import { VersionHistory } from '../../components/version-history.tsx';
import { useWeakerConfirmation, WhyField } from '../../components/weaker-confirmation.tsx';
import { YamlEditor } from '../../components/yaml-editor.tsx';

type PolicySet = OperationOutput<'tenantPoliciesShow'>;
type Rules = OperationInput<'tenantPoliciesSave'>['policies'];

/** The rules of one tenant: an editor, and the history with comparison and rollback. */
export function TenantPolicies({ tenant_id }: { readonly tenant_id: string }) {
  const { data, error } = useOperation('tenantPoliciesShow', { tenant_id });
  // It stays when the panel starts again with the saved version.
  const save = useOperationCall('tenantPoliciesSave', [
    'tenantPoliciesShow',
    'tenantPolicyVersions',
    'tenantPolicyDiff',
    'tenantsList',
  ]);
  return (
    <div className="stack">
      <ErrorNote error={error} />
      {data === undefined ? null : <RulesPanel key={data.version ?? 0} set={data} save={save} />}
      <HistoryPanel tenant_id={tenant_id} current={data?.version ?? null} />
    </div>
  );
}

type SaveCall = ReturnType<typeof useOperationCall<'tenantPoliciesSave'>>;

interface RulesPanelProps {
  readonly set: PolicySet;
  readonly save: SaveCall;
}

function RulesPanel({ set, save }: RulesPanelProps) {
  const mayCall = useMayCall();
  const savedText = set.policies.length === 0 ? '' : stringify(set.policies);
  const [text, setText] = useState(savedText);
  const weaker = useWeakerConfirmation(save.error);
  const [note, setNote] = useState('');
  const read = readRules(text);
  const canSave = mayCall('tenantPoliciesSave');
  return (
    <Panel
      title={`Rules of ${revealHidden(set.tenant_id)}`}
      aside={
        <span className="muted">{set.version === null ? 'nothing saved' : `version ${set.version}`}</span>
      }
    >
      <div className="stack">
        {set.configured.length === 0 ? null : (
          <p className="muted">
            Rules of the configuration, which are evaluated first:{' '}
            <SafeText text={set.configured.join(', ')} />
          </p>
        )}
        <YamlEditor
          label="Rules as YAML"
          value={text}
          onChange={setText}
          is_read_only={!canSave}
          problems={read.ok ? NO_PROBLEMS : read.problems}
          document="rules"
        />
        <ErrorNote error={save.error} />
        {save.isSuccess && save.data.version === set.version ? (
          <p className="note good" role="status">
            Version {save.data.version} is active in all workers.
          </p>
        ) : null}
        {canSave ? (
          <form
            className="field-row"
            onSubmit={(event) => {
              event.preventDefault();
              if (!read.ok) return;
              save.mutate({
                tenant_id: set.tenant_id,
                policies: read.rules,
                base_version: set.version ?? 0,
                ...(note === '' ? {} : { note }),
                ...weaker.input,
              });
            }}
          >
            {weaker.field}
            <WhyField value={note} is_required={weaker.is_asked} onChange={setNote} />
            <Button type="submit" look="primary" disabled={!read.ok || text === savedText || save.isPending}>
              {save.isPending ? 'Saving …' : 'Save as a new version'}
            </Button>
          </form>
        ) : null}
      </div>
    </Panel>
  );
}

const NO_PROBLEMS: readonly never[] = [];

type ReadRules =
  | { readonly ok: true; readonly rules: Rules }
  | { readonly ok: false; readonly problems: readonly { line: number; message: string }[] };

/** Reads a list of rules. The service checks each rule; here only the form of the text counts. */
function readRules(text: string): ReadRules {
  try {
    const value: unknown = parse(text, { maxAliasCount: 100 }) ?? [];
    if (Array.isArray(value)) return { ok: true, rules: value as Rules };
    return {
      ok: false,
      problems: [{ line: 1, message: 'Write a list of rules: each begins with "- name:".' }],
    };
  } catch (error) {
    const line = (error as { linePos?: readonly { line: number }[] }).linePos?.[0]?.line ?? 1;
    return { ok: false, problems: [{ line, message: error instanceof Error ? error.message : 'not valid' }] };
  }
}

interface HistoryPanelProps {
  readonly tenant_id: string;
  readonly current: number | null;
}

function HistoryPanel({ tenant_id, current }: HistoryPanelProps) {
  const { data, error } = useOperation('tenantPolicyVersions', { tenant_id, limit: 1_000 });
  const mayCall = useMayCall();
  const restore = useOperationCall('tenantPoliciesRollback', [
    'tenantPoliciesShow',
    'tenantPolicyVersions',
    'tenantsList',
  ]);
  return (
    <VersionHistory
      name="tenant-versions"
      label="Versions of the rules"
      versions={data?.versions}
      error={error}
      current={current}
      columns={[{ id: 'rules', title: 'Rules', is_number: true, width: 80 }]}
      empty={<p className="muted">Nothing was saved for this tenant.</p>}
      renderChange={(version) => <VersionDiff tenant_id={tenant_id} version={version} />}
      can_restore={mayCall('tenantPoliciesRollback')}
      restore={restore}
      buildInput={(restored) => ({ tenant_id, ...restored })}
    />
  );
}

function VersionDiff({ tenant_id, version }: { readonly tenant_id: string; readonly version: number }) {
  const { data, error } = useOperation('tenantPolicyDiff', { tenant_id, from: version - 1, to: version });
  if (error !== null) return <ErrorNote error={error} />;
  if (data === undefined) return <p className="muted">Loading …</p>;
  return (
    <div className="stack">
      <h3>
        Version {data.from} to version {data.to}
      </h3>
      {data.differences.length === 0 ? <p className="muted">No rule differs.</p> : null}
      {data.differences.map(({ name, change, before, after }) => (
        <div key={`${change} ${name}`}>
          <p>
            <SafeText text={name} /> <span className="muted">{change}</span>
          </p>
          <JsonDiff label={`Change of ${revealHidden(name)}`} before={before} after={after} />
        </div>
      ))}
    </div>
  );
}

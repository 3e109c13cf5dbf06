import { useMayCall } from '../../api/session.ts';
import { useOperation, useOperationCall } from '../../api/use-operation.ts';
import { EmptyState } from '../../components/empty-state.tsx';
import { ErrorNote } from '../../components/error-note.tsx';
import { JsonDiff } from '../../components/json-diff.tsx';
import { VersionHistory } from '../../components/version-history.tsx';

/** The versions of the policy document, with comparison and rollback. */
export function DocumentHistory({ current }: { readonly current: number | null }) {
  const { data, error } = useOperation('policyVersionsList', { limit: 1_000 });
  const mayCall = useMayCall();
  const restore = useOperationCall('policyDocumentRollback', [
    'policyDocumentShow',
    'policyVersionsList',
    'dashboardRules',
  ]);
  return (
    <VersionHistory
      name="policy-versions"
      label="Versions of the policy document"
      versions={data?.versions}
      error={error}
      current={current}
      empty={
        <EmptyState title="Nothing was saved yet.">
          Write rules above, or install a template. Rules in files stay as they are.
        </EmptyState>
      }
      renderChange={(version) => <DocumentDiff version={version} />}
      can_restore={mayCall('policyDocumentRollback')}
      restore={restore}
      buildInput={(restored) => restored}
    />
  );
}

function DocumentDiff({ version }: { readonly version: number }) {
  const { data, error } = useOperation('policyVersionDiff', { from: version - 1, to: version });
  if (error !== null) return <ErrorNote error={error} />;
  if (data === undefined) return <p className="muted">Loading …</p>;
  return (
    <div className="stack">
      <h3>{data.from === 0 ? `Version ${data.to}` : `Version ${data.from} to version ${data.to}`}</h3>
      {data.diff === '' ? (
        <p className="muted">The texts are equal.</p>
      ) : (
        <JsonDiff label={`Change of version ${data.to}`} before={data.before} after={data.after} />
      )}
    </div>
  );
}

import { useMayCall } from '../../api/session.ts';
import { useOperation, useOperationCall } from '../../api/use-operation.ts';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { ErrorNote } from '../../components/error-note.tsx';
import { Panel } from '../../components/page-header.tsx';
import { Command } from '../../components/prose.tsx';
import { SafeText } from '../../components/safe-text.tsx';
import { StatTile } from '../../components/stat-tile.tsx';
import { formatDuration } from '../../components/time.tsx';

const REFRESH_MS = 10_000;

/** The state of the service: version, uptime, policy, and the reload of the policy. */
export function HealthPanel() {
  const { data, error } = useOperation('health', {}, { refresh_ms: REFRESH_MS });
  const ready = useOperation('ready', {}, { refresh_ms: REFRESH_MS });
  const mayCall = useMayCall();
  return (
    <>
      <ErrorNote error={error} />
      <div className="tiles">
        <StatTile
          label="Stores and policy"
          value={
            ready.isPending ? (
              '…'
            ) : ready.error === null ? (
              <Badge value="healthy" />
            ) : (
              <Badge value="not ready" />
            )
          }
        />
        <StatTile label="Version" value={data?.version ?? '…'} />
        <StatTile label="Mode" value={data?.mode ?? '…'} />
        <StatTile
          label="Up for"
          value={data === undefined ? '…' : formatDuration(data.uptime_seconds * 1_000)}
        />
        <StatTile label="Agents since the start" value={data?.agents_seen.length ?? '…'} />
      </div>
      {data?.last_reload === undefined ? null : (
        <p className="note bad" role="alert">
          The last reload failed, and the previous policy is still active. Run{' '}
          <Command text="customshouse validate" /> to see what is wrong, fix it, and reload.
        </p>
      )}
      <div className="columns">
        {mayCall('policiesReload') ? <ReloadPanel /> : null}
        <Panel title="Agents since the start">
          {data === undefined || data.agents_seen.length === 0 ? (
            <p className="muted">No agent has called since the start.</p>
          ) : (
            <ul className="plain-list">
              {data.agents_seen.map((agent) => (
                <li key={agent}>
                  <SafeText text={agent} />
                </li>
              ))}
            </ul>
          )}
        </Panel>
      </div>
    </>
  );
}

function ReloadPanel() {
  const reload = useOperationCall('policiesReload', ['health', 'dashboardOverview', 'settingsShow']);
  return (
    <Panel title="Policy">
      <div className="stack">
        <p>
          A reload reads the configuration and all documents again, and activates them in every worker or in
          none.
        </p>
        <ErrorNote error={reload.error} />
        {reload.data === undefined ? null : (
          <p className="note good" role="status">
            {reload.data.changed ? 'A changed policy is active: ' : 'Nothing has changed: '}
            <code>{reload.data.policy_hash.slice(0, 19)}</code>, generation {reload.data.generation}.
          </p>
        )}
        <p>
          <Button disabled={reload.isPending} onClick={() => reload.mutate({})}>
            {reload.isPending ? 'Reloading …' : 'Reload the policy'}
          </Button>
        </p>
      </div>
    </Panel>
  );
}

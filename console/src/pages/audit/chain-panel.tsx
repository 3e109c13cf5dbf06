import type { VerifyReport } from '../../../../src/runtime/audit/verify-report.ts';
import { useMayCall, useSession } from '../../api/session.ts';
import { useOperation, useOperationCall } from '../../api/use-operation.ts';
import { Button } from '../../components/button.tsx';
import { CodeBlock } from '../../components/code-block.tsx';
import { ErrorNote } from '../../components/error-note.tsx';
import { type EvidenceJob, JobProgress } from '../../components/job-progress.tsx';
import { Panel } from '../../components/page-header.tsx';
import { nameProgram } from '../../components/prose.tsx';
import { SafeText } from '../../components/safe-text.tsx';
import { formatCount } from '../../components/stat-tile.tsx';
import { Time } from '../../components/time.tsx';
import { PacksPanel } from './packs-panel.tsx';

const REFRESH_MS = 1_000;

/** The state of the chain, its verification with progress, and the evidence packs. */
export function ChainPart() {
  const jobs = useOperation('auditJobs', {}, { refresh_ms: REFRESH_MS });
  const { tenants } = useSession();
  const list = jobs.data?.jobs ?? [];
  return (
    <div className="stack">
      <ErrorNote error={jobs.error} />
      {tenants.includes('*') ? (
        <VerifyPanel job={list.find(({ kind }) => kind === 'verify') ?? null} />
      ) : null}
      <PacksPanel jobs={list.filter(({ kind }) => kind === 'pack')} />
    </div>
  );
}

function VerifyPanel({ job }: { readonly job: EvidenceJob | null }) {
  const mayCall = useMayCall();
  const start = useOperationCall('auditVerifyStart', ['auditJobs']);
  const isRunning = job?.state === 'running';
  return (
    <Panel
      title="Chain"
      aside={
        mayCall('auditVerifyStart') ? (
          <Button look="primary" disabled={isRunning || start.isPending} onClick={() => start.mutate({})}>
            Verify the log
          </Button>
        ) : null
      }
    >
      <div className="stack">
        <ErrorNote error={start.error} />
        {job === null ? (
          <p>
            The log was not verified in the last day. Verifying checks the hash of every record, its place in
            the chain, and the signatures on checkpoints. It does not slow decisions.
          </p>
        ) : (
          <VerifyState job={job} />
        )}
        <details className="hint">
          <summary>Verify a copy on another machine</summary>
          <CodeBlock
            text={nameProgram('customshouse audit verify --dir /backup/state --json')}
            label="Command that verifies a copy"
          />
        </details>
      </div>
    </Panel>
  );
}

function VerifyState({ job }: { readonly job: EvidenceJob }) {
  if (job.state === 'running') return <JobProgress job={job} label="Progress of the verification" />;
  const report = job.verification as VerifyReport | null;
  if (job.state === 'canceled') return <p className="note watch">The verification was canceled.</p>;
  if (report === null) return <p className="note bad">{job.error ?? 'The verification failed.'}</p>;
  return (
    <>
      <Outcome report={report} ended_at={job.ended_at} />
      {report.warnings.map((warning) => (
        <p key={warning} className="note watch">
          <SafeText text={warning} />
        </p>
      ))}
      <WriterTable report={report} />
    </>
  );
}

function Outcome({ report, ended_at }: { readonly report: VerifyReport; readonly ended_at: string | null }) {
  const { broken, writers, missing_keys } = report;
  if (broken === null && missing_keys.length > 0)
    return (
      <p className="note watch" role="alert">
        The log cannot be verified without the public keys <code>{missing_keys.join(', ')}</code>. Put their
        files back into the folder <code>keys</code>.
      </p>
    );
  if (broken === null)
    return (
      <p className="note good" role="status">
        Intact: {formatCount(writers.reduce((sum, { events }) => sum + events, 0))} events, verified{' '}
        <Time at={ended_at} />.
      </p>
    );
  const line = broken.line === null ? '' : `, line ${broken.line}`;
  return (
    <p className="note bad" role="alert">
      Broken at <code>{`${broken.file ?? broken.writer}${line}`}</code> (record {broken.seq}):{' '}
      <SafeText text={broken.reason} /> Keep the files as they are, and compare them with a backup.
    </p>
  );
}

/** A region that scrolls on its own can be reached with the keyboard. */
function WriterTable({ report: { writers } }: { readonly report: VerifyReport }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable with the keyboard.
    <section className="plain-scroll" tabIndex={0} aria-label="Chains">
      <table className="plain">
        <thead>
          <tr>
            <th scope="col">Chain</th>
            <th scope="col">Records</th>
            <th scope="col">Events</th>
            <th scope="col">Signed checkpoints</th>
            <th scope="col">Since the last</th>
            <th scope="col">Deleted by age</th>
          </tr>
        </thead>
        <tbody>
          {writers.map(({ writer, records, events, checkpoints, unsigned_tail, retired }) => (
            <tr key={writer}>
              <th scope="row">
                <code>{writer}</code>
              </th>
              <td>{formatCount(records)}</td>
              <td>{formatCount(events)}</td>
              <td>{formatCount(checkpoints)}</td>
              <td>{formatCount(unsigned_tail)}</td>
              <td>{retired === null ? 'none' : `up to record ${retired.last_seq}`}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

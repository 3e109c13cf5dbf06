import { useState } from 'react';
import type { PackSummary } from '../../../../src/features/evidence/make-pack.ts';
import { operationRoutes } from '../../api/routes.ts';
import { useMayCall } from '../../api/session.ts';
import { Button } from '../../components/button.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { EvidencePackDialog } from '../../components/evidence-pack-dialog.tsx';
import { type EvidenceJob, JobProgress } from '../../components/job-progress.tsx';
import { Panel } from '../../components/page-header.tsx';
import { SafeText } from '../../components/safe-text.tsx';
import { formatCount } from '../../components/stat-tile.tsx';
import { Time } from '../../components/time.tsx';

/** The evidence packs of the last day: their progress, and the download. */
export function PacksPanel({ jobs }: { readonly jobs: readonly EvidenceJob[] }) {
  const [isOpen, setOpen] = useState(false);
  const mayCall = useMayCall();
  const isRunning = jobs.some(({ state }) => state === 'running');
  return (
    <Panel
      title="Evidence packs"
      aside={
        mayCall('evidencePackStart') ? (
          <Button disabled={isRunning} onClick={() => setOpen(true)}>
            Make an evidence pack
          </Button>
        ) : null
      }
    >
      {jobs.length === 0 ? (
        <EmptyState
          title="No pack was made in the last day."
          command="customshouse audit export --pack evidence.tar.gz --last 90d"
        >
          A pack proves to an auditor what agents did in a window, on any machine. This command makes one too.
        </EmptyState>
      ) : (
        <ul className="plain-list stack">
          {jobs.map((job) => (
            <li key={job.job_id}>
              <PackEntry job={job} />
            </li>
          ))}
        </ul>
      )}
      {isOpen ? <EvidencePackDialog onClose={() => setOpen(false)} /> : null}
    </Panel>
  );
}

function PackEntry({ job }: { readonly job: EvidenceJob }) {
  const pack = job.pack as PackSummary | null;
  if (job.state === 'running') return <JobProgress job={job} label="Progress of the evidence pack" />;
  if (pack === null)
    return (
      <p className={`note ${job.state === 'canceled' ? 'watch' : 'bad'}`}>
        {job.state === 'canceled' ? 'The pack was canceled.' : (job.error ?? 'The pack failed.')}
      </p>
    );
  const path = operationRoutes.evidencePackDownload[1].replace('{job_id}', job.job_id);
  const day = pack.window.until.slice(0, 10);
  return (
    <div className="pack-entry">
      <div>
        <strong>{formatCount(pack.events)} events</strong>, {pack.window.since.slice(0, 10)} to {day}
        {pack.tenant_id === null ? null : (
          <>
            , tenant <SafeText text={pack.tenant_id} />
          </>
        )}
        {pack.framework === null ? null : `, ${pack.framework}`}
        <div className="hint">
          {formatCount(Math.ceil(pack.bytes / 1_024))} KiB, made <Time at={job.ended_at} />. SHA-256{' '}
          <code className="wraps">{pack.sha256}</code>
        </div>
      </div>
      <a className="button" href={path} download={`evidence-${day}.tar.gz`}>
        Download
      </a>
    </div>
  );
}

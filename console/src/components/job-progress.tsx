import type { OperationOutput } from '../api/client.ts';
import { useOperationCall } from '../api/use-operation.ts';
import { Button } from './button.tsx';
import { ErrorNote } from './error-note.tsx';

export type EvidenceJob = OperationOutput<'auditJobs'>['jobs'][number];

/** The progress of a job, with a button that cancels it. */
export function JobProgress({ job, label }: { readonly job: EvidenceJob; readonly label: string }) {
  const cancel = useOperationCall('auditJobCancel', ['auditJobs']);
  const { done_bytes, total_bytes } = job.progress;
  const percent = total_bytes === 0 ? 0 : Math.floor((done_bytes / total_bytes) * 100);
  return (
    <div className="stack">
      <div className="job-progress">
        <progress aria-label={label} max={100} value={percent} />
        <span role="status">{percent} % of the audit log read</span>
        <Button
          is_small
          disabled={cancel.isPending || cancel.isSuccess}
          onClick={() => cancel.mutate({ job_id: job.job_id })}
        >
          {cancel.isSuccess ? 'Canceling …' : 'Cancel'}
        </Button>
      </div>
      <ErrorNote error={cancel.error} />
    </div>
  );
}

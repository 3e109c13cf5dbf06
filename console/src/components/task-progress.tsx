import type { OperationOutput } from '../api/client.ts';
import { useOperationCall } from '../api/use-operation.ts';
import { Button } from './button.tsx';
import { ErrorNote } from './error-note.tsx';

export type EvidenceTask = OperationOutput<'auditTasks'>['tasks'][number];

/** The progress of a task, with a button that cancels it. */
export function TaskProgress({ task, label }: { readonly task: EvidenceTask; readonly label: string }) {
  const cancel = useOperationCall('auditTaskCancel', ['auditTasks']);
  const { done_bytes, total_bytes } = task.progress;
  const percent = total_bytes === 0 ? 0 : Math.floor((done_bytes / total_bytes) * 100);
  return (
    <div className="stack">
      <div className="task-progress">
        <progress aria-label={label} max={100} value={percent} />
        <span role="status">{percent} % of the audit log read</span>
        <Button
          is_small
          disabled={cancel.isPending || cancel.isSuccess}
          onClick={() => cancel.mutate({ task_id: task.task_id })}
        >
          {cancel.isSuccess ? 'Canceling …' : 'Cancel'}
        </Button>
      </div>
      <ErrorNote error={cancel.error} />
    </div>
  );
}

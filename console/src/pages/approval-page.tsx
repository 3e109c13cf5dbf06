import { useParams } from '@tanstack/react-router';
import { useOperation } from '../api/use-operation.ts';
import { ApprovalCard } from '../components/approval-card.tsx';
import { ErrorNote } from '../components/error-note.tsx';
import { PageHeader } from '../components/page-header.tsx';
import { GrantsPanel } from './approvals/grants-panel.tsx';
import { ProposalPanel } from './approvals/proposal-panel.tsx';

/** Shows one request for approval. */
export function ApprovalPage() {
  const { request_id } = useParams({ strict: false }) as { request_id: string };
  const { data, error } = useOperation('approvalsShow', { request_id }, { refresh_ms: 3_000 });
  return (
    <div className="page-body">
      <PageHeader title="Approval" />
      <ErrorNote error={error} />
      {data === undefined ? null : <ApprovalCard request={data} />}
      {data?.rule_proposed === true ? <ProposalPanel request_id={request_id} /> : null}
      <GrantsPanel {...(data === undefined ? {} : { agent_id: data.agent_id })} />
    </div>
  );
}

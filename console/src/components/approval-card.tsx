import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { OperationOutput } from '../api/client.ts';
import { useMayCall } from '../api/session.ts';
import { useOperationCall } from '../api/use-operation.ts';
import { Badge, Tags } from './badge.tsx';
import { Button } from './button.tsx';
import { ConfirmDialog } from './confirm-dialog.tsx';
import { MaskedArguments } from './masked-arguments.tsx';
import { NoteField } from './note-field.tsx';
import { Prose } from './prose.tsx';
import { SafeText } from './safe-text.tsx';
import { SecondFactorField, useSecondFactor } from './second-factor.tsx';
import { Time, TimeLeft } from './time.tsx';

export type ApprovalRequest = OperationOutput<'dashboardApprovals'>['approvals'][number];

interface ApprovalCardProps {
  readonly request: ApprovalRequest;
  readonly is_chosen?: boolean;
  readonly onChoose?: () => void;
}

/** One request for approval: who wants what, with which arguments, who has decided, and the buttons to decide. */
export function ApprovalCard({ request, is_chosen = false, onChoose }: ApprovalCardProps) {
  const [decision, setDecision] = useState<'approve' | 'deny' | null>(null);
  const mayCall = useMayCall();
  const mayDecide = request.status === 'pending' && mayCall('dashboardApprovalsApprove');
  return (
    <article className="request" aria-label={`Request ${request.request_id}`}>
      <div>
        <div className="request-head">
          {onChoose === undefined ? null : (
            <input
              type="checkbox"
              aria-label={`Select ${request.request_id}`}
              checked={is_chosen}
              onChange={onChoose}
            />
          )}
          <Badge value={request.status} />
          <h2>
            <SafeText text={request.agent_id} /> <span className="muted">wants to call</span>{' '}
            <SafeText text={request.tool} />
          </h2>
          {request.status === 'pending' ? <TimeLeft until={request.expires_at} /> : null}
        </div>
        <p>
          <SafeText text={request.reason} />
        </p>
      </div>
      {mayDecide ? (
        <div className="request-buttons">
          <Button look="primary" onClick={() => setDecision('approve')}>
            Approve …
          </Button>
          <Button look="danger" onClick={() => setDecision('deny')}>
            Deny …
          </Button>
        </div>
      ) : null}
      <div className="request-body">
        <MaskedArguments
          text={request.arguments ?? ''}
          is_cut={request.arguments_truncated === true}
          bytes={request.arguments_bytes}
        />
        <RequestOrigins request={request} />
        <RequestFacts request={request} />
        <Votes request={request} />
      </div>
      {decision === null ? null : (
        <DecisionDialog request={request} decision={decision} onClose={() => setDecision(null)} />
      )}
    </article>
  );
}

/** Shows where the values of the call come from, as plain text. */
function RequestOrigins({ request }: { readonly request: ApprovalRequest }) {
  const origins = request.origins ?? [];
  if (origins.length === 0) return null;
  return (
    <ul className="plain-list" aria-label="Where the values come from">
      {origins.map(({ argument, sentence }) => (
        <li key={argument}>
          <Prose text={sentence} />
        </li>
      ))}
    </ul>
  );
}

function RequestFacts({ request }: { readonly request: ApprovalRequest }) {
  return (
    <div className="request-head hint">
      <span>
        rule <SafeText text={request.rule} />
      </span>
      <span>
        tenant <SafeText text={request.tenant_id} />
      </span>
      {request.session_id === null || request.session_id === undefined ? null : (
        <Link to="/sessions/$session_id" params={{ session_id: request.session_id }} search={{}}>
          session <SafeText text={request.session_id} />
        </Link>
      )}
      <span>
        asked <Time at={request.requested_at} />
      </span>
      <Link to="/approvals/$request_id" params={{ request_id: request.request_id }} search={{}}>
        {request.request_id}
      </Link>
      {request.grant_id === null || request.grant_id === undefined ? null : (
        <span>grant {request.grant_id}</span>
      )}
      {request.rule_proposed === true ? <span>a rule is proposed on its page</span> : null}
      {(request.data_tags ?? []).length === 0 ? null : <Tags tags={request.data_tags} />}
    </div>
  );
}

function Votes({ request }: { readonly request: ApprovalRequest }) {
  const votes = request.votes ?? [];
  const wanted = request.min_approvals ?? 1;
  if (votes.length === 0 && wanted < 2) return null;
  const approvals = votes.filter(({ vote }) => vote === 'approve').length;
  return (
    <ul className="votes" aria-label="Decisions so far">
      {wanted < 2 ? null : (
        <li>
          {approvals} of {wanted} approvals
        </li>
      )}
      {votes.map((vote) => (
        <li key={`${vote.caller_id} ${vote.voted_at}`}>
          <Badge value={vote.vote === 'approve' ? 'approved' : 'denied'} />
          <SafeText text={vote.approver ?? vote.caller_id} />
          <Time at={vote.voted_at} />
          {vote.comment === null ? null : <SafeText text={vote.comment} has_lines />}
        </li>
      ))}
    </ul>
  );
}

type ProposedGrant = NonNullable<ApprovalRequest['grants_proposed']>[number];

interface ScopeChoiceProps {
  readonly choices: readonly ProposedGrant[];
  readonly chosen: ProposedGrant['scope'];
  readonly onChoose: (scope: ProposedGrant['scope']) => void;
}

/** The choices of an approver, the narrowest first. */
function ScopeChoice({ choices, chosen, onChoose }: ScopeChoiceProps) {
  if (choices.length < 2) return null;
  return (
    <fieldset className="choices stacked">
      <legend>What you approve</legend>
      {choices.map(({ scope, sentence, uses_max, ttl }) => (
        <label key={scope}>
          <input type="radio" name="scope" checked={scope === chosen} onChange={() => onChoose(scope)} />
          <span>
            <Prose text={sentence} />
            {ttl === null ? null : (
              <span className="muted">
                {' '}
                At most {uses_max} calls, for {ttl}.
              </span>
            )}
          </span>
        </label>
      ))}
    </fieldset>
  );
}

interface DecisionDialogProps {
  readonly request: ApprovalRequest;
  readonly decision: 'approve' | 'deny';
  readonly onClose: () => void;
}

/** Asks for a note, and for a second factor if the service wants one, and sends the decision. */
function DecisionDialog({ request, decision, onClose }: DecisionDialogProps) {
  const changes = [
    'dashboardApprovals',
    'approvalsShow',
    'approvalsGrantsList',
    'dashboardOverview',
  ] as const;
  const approve = useOperationCall('dashboardApprovalsApprove', changes);
  const deny = useOperationCall('dashboardApprovalsDeny', changes);
  const call = decision === 'approve' ? approve : deny;
  const [note, setNote] = useState('');
  const [scope, setScope] = useState<ProposedGrant['scope']>('once');
  const secondFactor = useSecondFactor(call.error);
  async function send() {
    if (!(await secondFactor.prove())) return;
    const vote = { request_id: request.request_id, note: note === '' ? null : note };
    if (decision === 'deny') deny.mutate(vote, { onSuccess: onClose });
    else approve.mutate({ ...vote, grant: scope }, { onSuccess: onClose });
  }
  const isApproval = decision === 'approve';
  return (
    <ConfirmDialog
      title={isApproval ? 'Approve this call?' : 'Deny this call?'}
      action={isApproval ? 'Approve the call' : 'Deny the call'}
      is_dangerous={!isApproval}
      is_busy={call.isPending}
      error={secondFactor.error ?? (secondFactor.is_needed ? null : call.error)}
      onConfirm={() => void send()}
      onClose={onClose}
    >
      <p>
        <SafeText text={request.agent_id} /> <span className="muted">calls</span>{' '}
        <SafeText text={request.tool} />
        {isApproval ? '.' : ' and gets your denial.'}
      </p>
      <MaskedArguments
        text={request.arguments ?? ''}
        is_cut={request.arguments_truncated === true}
        bytes={request.arguments_bytes}
      />
      <NoteField value={note} onChange={setNote} has_focus />
      {isApproval ? (
        <ScopeChoice choices={request.grants_proposed ?? []} chosen={scope} onChoose={setScope} />
      ) : null}
      <SecondFactorField factor={secondFactor} />
    </ConfirmDialog>
  );
}

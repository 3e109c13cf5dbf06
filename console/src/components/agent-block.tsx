import { useState } from 'react';
import { useMayCall } from '../api/session.ts';
import { useOperation, useOperationCall } from '../api/use-operation.ts';
import { Button } from './button.tsx';
import { ConfirmDialog } from './confirm-dialog.tsx';
import { SafeText } from './safe-text.tsx';
import { TextField } from './text-field.tsx';
import { Time } from './time.tsx';

/** Says that an agent is blocked, for users who may read the list of blocked agents. */
export function AgentBlockNote({ agent_id }: { readonly agent_id: string }) {
  const { data } = useBlockedAgents();
  const block = data?.agents.find((each) => each.agent_id === agent_id);
  if (block === undefined) return null;
  return (
    <p className="note bad" role="status">
      <SafeText text={block.blocked_by} /> blocked this agent <Time at={block.blocked_at} />: every check of
      it is blocked. {block.reason === '' ? null : <SafeText text={block.reason} />}
    </p>
  );
}

/** The kill switch of one agent: blocks everything that it does, or lets it act again. */
export function AgentBlockButton({ agent_id }: { readonly agent_id: string }) {
  const mayCall = useMayCall();
  const { data } = useBlockedAgents();
  const [isAsking, setAsking] = useState(false);
  if (!mayCall('agentsBlock') || data === undefined) return null;
  const isBlocked = data.agents.some((each) => each.agent_id === agent_id);
  return (
    <>
      <Button look={isBlocked ? undefined : 'danger'} onClick={() => setAsking(true)}>
        {isBlocked ? 'Unblock the agent …' : 'Block the agent …'}
      </Button>
      {isAsking ? (
        <AgentBlockDialog agent_id={agent_id} is_blocked={isBlocked} onClose={() => setAsking(false)} />
      ) : null}
    </>
  );
}

/** Reads the list of blocked agents. It is for users of all tenants, so for others the answer is an error. */
function useBlockedAgents() {
  const mayRead = useMayCall()('agentsBlocked');
  return useOperation('agentsBlocked', {}, { enabled: mayRead });
}

interface AgentBlockDialogProps {
  readonly agent_id: string;
  readonly is_blocked: boolean;
  readonly onClose: () => void;
}

function AgentBlockDialog({ agent_id, is_blocked, onClose }: AgentBlockDialogProps) {
  const block = useOperationCall('agentsBlock', ['agentsBlocked', 'observeAgent']);
  const unblock = useOperationCall('agentsUnblock', ['agentsBlocked', 'observeAgent']);
  const [reason, setReason] = useState('');
  const call = is_blocked ? unblock : block;
  function confirm() {
    if (is_blocked) unblock.mutate({ agent_id }, { onSuccess: onClose });
    else block.mutate({ agent_id, reason }, { onSuccess: onClose });
  }
  return (
    <ConfirmDialog
      title={is_blocked ? 'Unblock this agent?' : 'Block this agent?'}
      action={is_blocked ? 'Unblock the agent' : 'Block the agent'}
      is_dangerous={!is_blocked}
      is_busy={call.isPending}
      error={call.error}
      onConfirm={confirm}
      onClose={onClose}
    >
      <p>
        {is_blocked
          ? 'The policy decides again on everything that it does: '
          : 'Within a second, every check, tool call, model call and secret of it is blocked: '}
        <SafeText text={agent_id} />.
      </p>
      {is_blocked ? null : (
        <TextField label="Reason, for operators" maxLength={500} value={reason} onChange={setReason} />
      )}
    </ConfirmDialog>
  );
}

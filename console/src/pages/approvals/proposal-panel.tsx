import { useState } from 'react';
import { useMayCall } from '../../api/session.ts';
import { useOperation } from '../../api/use-operation.ts';
import { Button } from '../../components/button.tsx';
import { CodeBlock } from '../../components/code-block.tsx';
import { ErrorNote } from '../../components/error-note.tsx';
import { Panel } from '../../components/page-header.tsx';
import { Prose } from '../../components/prose.tsx';
import { OpenInEditor } from '../policies/open-in-editor.tsx';

/** Proposes a rule for a question that was approved often. The replay runs when it is opened. */
export function ProposalPanel({ request_id }: { readonly request_id: string }) {
  const [isOpen, setOpen] = useState(false);
  const mayCall = useMayCall();
  const { data, error, isFetching } = useOperation(
    'approvalsProposal',
    { request_id },
    { enabled: isOpen && mayCall('approvalsProposal') },
  );
  if (!mayCall('approvalsProposal')) return null;
  return (
    <Panel title="Asked often">
      <p>Equal calls were approved five times in seven days and never denied.</p>
      {isOpen ? null : (
        <Button is_small onClick={() => setOpen(true)}>
          Propose a rule
        </Button>
      )}
      <ErrorNote error={error} />
      {isOpen && isFetching && data === undefined ? <p role="status">Replaying …</p> : null}
      {data === undefined ? null : (
        <div className="stack">
          <p>
            <Prose text={data.reason} />
          </p>
          {data.policy === null ? null : (
            <>
              <CodeBlock text={data.policy} label="Proposed rule" />
              <div>
                <OpenInEditor list="policies" text={readRecords(data.policy)} />
              </div>
            </>
          )}
          {data.replay === null ? null : (
            <p>
              The agent’s recorded calls of this tool in the last seven days: {data.replay.less_strict} less
              strict, {data.replay.stricter} stricter, {data.replay.same} the same, {data.replay.unknown}{' '}
              cannot be replayed.
            </p>
          )}
          {data.grant === null ? null : (
            <p className="hint">
              The longest grant: <code>{data.grant.scope}</code>, for {data.grant.ttl}, at most{' '}
              {data.grant.uses_max} calls.
            </p>
          )}
        </div>
      )}
    </Panel>
  );
}

/** Returns the records of a document with one list. */
function readRecords(document: string): string {
  return document.slice(document.indexOf('\n  - ') + 1).replaceAll(/^ {2}/gm, '');
}

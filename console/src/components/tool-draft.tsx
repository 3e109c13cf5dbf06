import { stringify } from 'yaml';
import { useOperation } from '../api/use-operation.ts';
import { OpenInEditor } from '../pages/policies/open-in-editor.tsx';
import { Button } from './button.tsx';
import { CodeBlock } from './code-block.tsx';
import { ErrorNote } from './error-note.tsx';
import { Panel } from './page-header.tsx';
import { revealHidden, SafeText } from './safe-text.tsx';
import { formatNumber } from './stat-tile.tsx';

interface ToolDraftProps {
  readonly tool_name: string;
  readonly onClose: () => void;
}

/** Drafts a contract for a tool from its calls of 30 days: agents, rate, tags, and what is known of its arguments. */
export default function ToolDraft({ tool_name, onClose }: ToolDraftProps) {
  const { data, error } = useOperation('observeToolContract', { tool_name, last: '30d' });
  return (
    <Panel
      title="Draft of a contract"
      details_of={tool_name}
      aside={
        <Button look="quiet" is_small onClick={onClose}>
          Close
        </Button>
      }
    >
      <ErrorNote error={error} />
      {data === undefined || data.tool_name !== tool_name ? null : (
        <div className="stack">
          <p>
            For <SafeText text={tool_name} />, from {formatNumber(data.calls_seen, 'call', 'calls')} and{' '}
            {formatNumber(data.results_seen, 'result', 'results')} of the last 30 days.
            {data.declared ? ' The active policy has a contract for it: change that one where it is.' : ''}
          </p>
          {data.contract === null ? (
            <p className="muted">It was not called in that time, so there is nothing to draft from.</p>
          ) : (
            <DraftText
              contract={data.contract}
              arguments_from={data.arguments_from}
              is_declared={data.declared}
            />
          )}
        </div>
      )}
    </Panel>
  );
}

interface DraftTextProps {
  readonly contract: object;
  readonly arguments_from: string;
  readonly is_declared: boolean;
}

const HINTS: Readonly<Record<string, string>> = {
  nothing:
    'No recorded call shows its arguments: name the tool in audit.log_argument_shapes, or add the JSON Schema under ',
  approval_requests: 'Names and types of arguments are from approval requests. Check the JSON Schema under ',
  recorded_calls:
    'Names, types and ranges of arguments are from recorded calls. Check the JSON Schema under ',
};

function DraftText({ contract, arguments_from, is_declared }: DraftTextProps) {
  // Names from outside are shown with their hidden characters as code points, and an operator decides what they mean.
  const text = revealLines(stringify([contract], { lineWidth: 0 }));
  return (
    <>
      <CodeBlock label="Draft of a contract" text={text} />
      <p className="hint">
        {HINTS[arguments_from]}
        <code>arguments</code>. The editor checks the contract before you save it.
      </p>
      {is_declared ? null : (
        <div>
          <OpenInEditor list="contracts" text={text} />
        </div>
      )}
    </>
  );
}

function revealLines(text: string): string {
  return text.trimEnd().split('\n').map(revealHidden).join('\n');
}

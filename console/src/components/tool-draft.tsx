import { useOperation } from '../api/use-operation.ts';
import { CodeBlock } from './code-block.tsx';
import { Panel } from './page-header.tsx';
import { revealHidden, SafeText } from './safe-text.tsx';

interface ToolDraftProps {
  readonly tool_name: string;
  readonly onClose: () => void;
}

const EVENTS = 1_000;

/** Drafts a contract for a tool from what was seen: its agents and its data tags. Arguments are not in the audit log. */
export function ToolDraft({ tool_name, onClose }: ToolDraftProps) {
  const { data } = useOperation('dashboardEventsQuery', { tool_name, last: '30d', limit: EVENTS });
  return (
    <Panel
      title="Draft of a contract"
      aside={
        <button type="button" className="button quiet small" onClick={onClose}>
          Close
        </button>
      }
    >
      <p>
        For <SafeText text={tool_name} />, from {data?.events.length ?? 0} events of the last 30 days.
      </p>
      {data === undefined ? null : (
        <CodeBlock
          label="Draft of a contract"
          text={draftContract(
            tool_name,
            data.events.filter(({ decision }) => decision !== 'block').flatMap(({ data_tags }) => data_tags),
          )}
        />
      )}
      <p className="hint">
        The audit log holds no arguments. Add their schema under <code>request.parameters</code>, then save
        the text in <code>contracts/</code> and run <code>service validate</code>.
      </p>
    </Panel>
  );
}

function draftContract(tool_name: string, tags: readonly string[]): string {
  const quoted = JSON.stringify(revealHidden(tool_name));
  const known = [...new Set(tags)].toSorted();
  return [
    'apiVersion: service/v1alpha1',
    'kind: ToolContract',
    'metadata:',
    `  name: ${quoted}`,
    'spec:',
    `  tool_name: ${quoted}`,
    `  allowed_tags: [${known.map((tag) => JSON.stringify(tag)).join(', ')}]`,
  ].join('\n');
}

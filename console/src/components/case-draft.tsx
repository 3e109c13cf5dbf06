import { type FormEvent, useState } from 'react';
import { useOperationCall } from '../api/use-operation.ts';
import { Button } from './button.tsx';
import { ChoiceField } from './choice-field.tsx';
import { CodeBlock } from './code-block.tsx';
import { ErrorNote } from './error-note.tsx';
import type { ConsoleEvent } from './event-columns.tsx';
import { Panel } from './page-header.tsx';
import { Command } from './prose.tsx';
import { revealHidden } from './safe-text.tsx';
import { saveFile } from './save-file.ts';
import { WhyField } from './weaker-confirmation.tsx';

type Expected = 'allow' | 'block';

const DECISIONS = [
  ['allow', 'Allow it'],
  ['block', 'Block it'],
] as const;

/** Drafts a test case from a wrong decision, as text to save. The service writes nothing. */
export function CaseDraft({ event }: { readonly event: ConsoleEvent }) {
  const [expect, setExpect] = useState<Expected>(event.decision === 'allow' ? 'block' : 'allow');
  const [note, setNote] = useState('');
  const draft = useOperationCall('policyCase', []);
  function send(submitted: FormEvent) {
    submitted.preventDefault();
    draft.mutate({ event_id: event.event_id, expect, note });
  }
  return (
    <Panel title="Test case of a wrong decision" details_of={event.event_id}>
      <form className="table-bar" onSubmit={send}>
        <ChoiceField
          label="Right decision"
          choices={DECISIONS}
          value={expect}
          onChange={(value) => setExpect(value as Expected)}
        />
        <WhyField value={note} is_required={false} onChange={setNote} />
        <Button type="submit" look="primary" disabled={draft.isPending}>
          {draft.isPending ? 'Drafting …' : 'Draft the case'}
        </Button>
      </form>
      <p className="hint">
        The case holds the call as the audit log shows it: secrets, personal data and injections are masked.
      </p>
      <ErrorNote error={draft.error} />
      {draft.data === undefined ? null : <DraftedCase {...draft.data} />}
    </Panel>
  );
}

interface DraftedCaseProps {
  readonly event_id: string;
  readonly file: string;
  readonly text: string;
  readonly passes: boolean;
}

function DraftedCase({ event_id, file, text, passes }: DraftedCaseProps) {
  return (
    <div className="stack">
      <p role="status">
        {passes
          ? 'The case passes today: masked content decided, or the policy has changed since.'
          : 'The case fails until the policy is changed.'}
      </p>
      <CodeBlock text={text.split('\n').map(revealHidden).join('\n')} label="Test case" />
      <div className="table-bar">
        <Button onClick={() => saveFile(file.replace(/^.*\//, ''), 'application/yaml', text)}>
          Download
        </Button>
        <span className="hint">
          Nothing was written. Save it as <code>{file}</code> next to <code>service.yaml</code>, or have{' '}
          <Command text={`customshouse wrong ${event_id}`} /> write it there; then run{' '}
          <Command text="customshouse policy test" />.
        </span>
      </div>
    </div>
  );
}

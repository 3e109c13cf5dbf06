import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { callOperation } from '../../api/client.ts';
import { useMayCall, useSession } from '../../api/session.ts';
import { Button } from '../../components/button.tsx';
import { ErrorNote } from '../../components/error-note.tsx';
import { appendRecords, type RecordList } from './append-record.ts';
import { addToPolicyDraft } from './policy-draft.ts';

interface OpenInEditorProps {
  readonly list: RecordList;
  /** A YAML list of records. */
  readonly text: string;
}

/** A button that adds records to the draft of the policy document and opens its editor. Absent without the right to save it. */
export function OpenInEditor({ list, text }: OpenInEditorProps) {
  const mayCall = useMayCall();
  const { tenants } = useSession();
  const client = useQueryClient();
  const navigate = useNavigate();
  const [error, setError] = useState<unknown>(null);
  async function open() {
    try {
      const document = await callOperation('policyDocumentShow', {});
      addToPolicyDraft(client, document, (draft) => appendRecords(draft, list, text));
      await navigate({ to: '/policies', search: { part: 'document' } });
    } catch (caught) {
      setError(caught);
    }
  }
  if (!mayCall('policyDocumentSave') || !tenants.includes('*')) return null;
  return (
    <>
      <ErrorNote error={error} />
      <Button onClick={() => void open()}>Open in the policy editor</Button>
    </>
  );
}

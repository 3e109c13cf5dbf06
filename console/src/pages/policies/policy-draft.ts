import { type QueryClient, skipToken, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { OperationOutput } from '../../api/client.ts';

type PolicyDocument = OperationOutput<'policyDocumentShow'>;

/** A text that was typed and not saved, with the version on which it is based. */
interface PolicyDraft {
  readonly text: string;
  /** 0: nothing was saved. */
  readonly base_version: number;
}

interface PolicyDraftState extends PolicyDraft {
  readonly is_changed: boolean;
  /** Changes the text. `null` drops the draft. */
  readonly setText: (text: string | null) => void;
}

const DRAFT_KEY = ['policyDraft'];

/** Returns the draft of the policy document. It survives a look at another page, and a version that another user saves meanwhile. */
export function usePolicyDraft(document: PolicyDocument): PolicyDraftState {
  const client = useQueryClient();
  const { data } = useQuery<PolicyDraft | null>({
    queryKey: DRAFT_KEY,
    queryFn: skipToken,
    initialData: null,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: Number.POSITIVE_INFINITY,
  });
  const saved = { text: document.text, base_version: document.version ?? 0 };
  const draft = data ?? saved;
  function setText(text: string | null) {
    const isAsSaved = text === null || (text === document.text && draft.base_version === saved.base_version);
    client.setQueryData(DRAFT_KEY, isAsSaved ? null : { ...draft, text });
  }
  return { ...draft, is_changed: data !== null, setText };
}

/** Changes the text of the draft from another page. Without a draft, one of the saved document begins. */
export function addToPolicyDraft(
  client: QueryClient,
  document: PolicyDocument,
  change: (text: string) => string,
): void {
  const saved = { text: document.text, base_version: document.version ?? 0 };
  const draft = client.getQueryData<PolicyDraft | null>(DRAFT_KEY) ?? saved;
  client.setQueryData(DRAFT_KEY, { ...draft, text: change(draft.text) });
}

/** Returns a value after it has not changed for a time. */
export function useSettled<Value>(value: Value, delayMs: number): Value {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = window.setTimeout(() => setSettled(value), delayMs);
    return () => window.clearTimeout(timer);
  }, [value, delayMs]);
  return settled;
}

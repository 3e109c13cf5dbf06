import { Link } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import type { OperationOutput } from '../../api/client.ts';
import { useMayCall, useSession } from '../../api/session.ts';
import { useOperation, useOperationCall } from '../../api/use-operation.ts';
import { Button } from '../../components/button.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { ErrorNote } from '../../components/error-note.tsx';
import { Panel } from '../../components/page-header.tsx';
import { Prose } from '../../components/prose.tsx';
import { SafeText } from '../../components/safe-text.tsx';
import { useWeakerConfirmation, WhyField } from '../../components/weaker-confirmation.tsx';
import { YamlEditor } from '../../components/yaml-editor.tsx';
import { DocumentHistory } from './document-history.tsx';
import { DraftChecks } from './draft-checks.tsx';
import { usePolicyDraft, useSettled } from './policy-draft.ts';

type PolicyDocument = OperationOutput<'policyDocumentShow'>;
type LintAnswer = OperationOutput<'policyLint'>;
type LintProblem = LintAnswer['problems'][number];

const LINT_DELAY_MS = 600;
/** The name of the document in messages of the compiler. */
const DOCUMENT_FILE = /^managed policy, version /;

/** The policy document that is edited in the console: editor, checks and history. */
export function DocumentPanel() {
  const { tenants } = useSession();
  if (!tenants.includes('*'))
    return (
      <EmptyState title="The policy document applies to all tenants, and your account sees only some.">
        Edit the rules of one tenant under <Link to="/access">Tenants and access</Link>.
      </EmptyState>
    );
  return <DocumentOfAllTenants />;
}

function DocumentOfAllTenants() {
  const { data, error } = useOperation('policyDocumentShow', {});
  return (
    <>
      <ErrorNote error={error} />
      {data === undefined ? null : <DocumentEditor document={data} />}
      <DocumentHistory current={data?.version ?? null} />
    </>
  );
}

function DocumentEditor({ document }: { readonly document: PolicyDocument }) {
  const mayCall = useMayCall();
  const canSave = mayCall('policyDocumentSave');
  const draft = usePolicyDraft(document);
  const settled = useSettled(draft.text, LINT_DELAY_MS);
  const lint = useOperation('policyLint', { text: settled }, { enabled: canSave && settled !== '' });
  const found = settled === '' ? undefined : lint.data;
  const isOutdated = draft.base_version !== (document.version ?? 0);
  return (
    <>
      <Panel
        title="Policy document"
        aside={
          <span className="muted">
            {document.version === null ? 'nothing saved' : `version ${document.version}`}
          </span>
        }
      >
        <div className="stack">
          <p className="muted">
            Its rules are evaluated after those of the configuration and of the policy files.
          </p>
          {isOutdated ? (
            <p className="note watch" role="status">
              Version {document.version} was saved by <SafeText text={document.created_by} /> after you began.
              Your draft is still here.{' '}
              <Button is_small onClick={() => draft.setText(null)}>
                Drop the draft
              </Button>
            </p>
          ) : null}
          <YamlEditor
            label="Policy document as YAML"
            value={draft.text}
            onChange={draft.setText}
            is_read_only={!canSave}
            problems={listEditorProblems(found)}
            document="policy"
          />
          <ErrorNote error={lint.error} />
          {found === undefined ? null : <LintResult lint={found} />}
          {canSave ? <SaveForm draft={draft} /> : null}
        </div>
      </Panel>
      {canSave ? <DraftChecks text={draft.text} /> : null}
    </>
  );
}

function listEditorProblems(lint: LintAnswer | undefined) {
  if (lint === undefined) return NO_PROBLEMS;
  return [...lint.problems, ...lint.remarks]
    .filter(({ file, line }) => DOCUMENT_FILE.test(file) && line !== undefined)
    .map(({ line = 1, message }) => ({ line, message }));
}

const NO_PROBLEMS: readonly never[] = [];

function LintResult({ lint: { valid, problems, remarks } }: { readonly lint: LintAnswer }) {
  if (valid && problems.length === 0 && remarks.length === 0)
    return (
      <p className="note good" role="status">
        The document compiles, and nothing in it looks like a mistake.
      </p>
    );
  return (
    <div className={valid ? 'note watch' : 'note bad'} role="status">
      <p>{valid ? 'The document compiles. Look at these places:' : 'The document does not compile:'}</p>
      <ul>
        {[...problems, ...remarks].map((problem) => (
          <li key={`${problem.file} ${problem.path} ${problem.message}`}>
            <ProblemPlace problem={problem} /> <Prose text={problem.message} />
          </li>
        ))}
      </ul>
    </div>
  );
}

function ProblemPlace({ problem: { file, line, path } }: { readonly problem: LintProblem }) {
  const place = DOCUMENT_FILE.test(file) ? '' : `${file} `;
  return (
    <code>
      <SafeText
        text={`${place}${line === undefined ? path : `line ${line}${path === '' ? '' : `, ${path}`}`}`}
      />
    </code>
  );
}

interface SaveFormProps {
  readonly draft: ReturnType<typeof usePolicyDraft>;
}

function SaveForm({ draft }: SaveFormProps) {
  const save = useOperationCall('policyDocumentSave', [
    'policyDocumentShow',
    'policyVersionsList',
    'policyVersionDiff',
    'dashboardRules',
  ]);
  const weaker = useWeakerConfirmation(save.error);
  const [note, setNote] = useState('');
  function submit(event: FormEvent) {
    event.preventDefault();
    const { text, base_version } = draft;
    save.mutate(
      { text, base_version, ...(note === '' ? {} : { note }), ...weaker.input },
      {
        onSuccess: () => {
          draft.setText(null);
          setNote('');
        },
      },
    );
  }
  return (
    <>
      <ErrorNote error={save.error} />
      {save.isSuccess ? (
        <p className="note good" role="status">
          Version {save.data.version} is active in all workers.
        </p>
      ) : null}
      <form className="field-row" onSubmit={submit}>
        {weaker.field}
        <WhyField value={note} is_required={weaker.is_asked} onChange={setNote} />
        <Button type="submit" look="primary" disabled={!draft.is_changed || save.isPending}>
          {save.isPending ? 'Saving …' : 'Save as a new version'}
        </Button>
      </form>
    </>
  );
}

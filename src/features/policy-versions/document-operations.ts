import { Type } from '../../core/schema.ts';
import {
  activatedProperties,
  applyManagedChange,
  type Confirmation,
  confirmInput,
} from '../../operations/managed-change.ts';
import { type Context, defineOperation, Refusal } from '../../operations/operation.ts';
import { buildListPage, pageInput, pageOutput, readNumberPage } from '../../operations/paging.ts';
import { dropBlankName } from '../../operations/subject.ts';
import { buildLineSchema, buildOptionalNumberSchema, documentText } from './fields.ts';
import { policyVersions } from './tables.ts';
import {
  deletePolicyVersion,
  findPolicyVersion,
  hashDocumentText,
  insertPolicyVersion,
  listPolicyVersions,
  type PolicyVersion,
} from './version-store.ts';

export const policyDocumentShow = defineOperation({
  name: 'policy_document_show',
  summary: 'Show the policy document that is edited here',
  description:
    'The document with the global rules that operators save over the API: the current version or an earlier one. Its rules are evaluated after those of the configuration and of the policy files.',
  http: { method: 'GET', path: '/v1/dashboard/policies/document' },
  permission: 'dashboard:view',
  tenants: 'all',
  for_users: true,
  needs: 'store',
  input: Type.Object({ version: Type.Optional(buildOptionalNumberSchema('Default: the current version.')) }),
  output: Type.Object({
    text: Type.String({ description: 'YAML; empty if nothing was saved.' }),
    ...policyVersions.schema.properties,
    version: Type.Nullable(Type.Integer({ description: '`null` if nothing was saved.' })),
    sha256: Type.Nullable(Type.String()),
    created_by: Type.Nullable(Type.String()),
    created_at: Type.Nullable(Type.String()),
  }),
  example: {},
  answer: {
    text: '',
    version: null,
    name: '',
    sha256: null,
    note: '',
    restored_from: null,
    created_by: null,
    created_at: null,
  },
  refusals: ['not_found'],
  async run({ version }, context) {
    const { db } = await context.runtime.store();
    const found = await findPolicyVersion(db, version ?? null);
    if (found !== null) return { text: found.text, ...policyVersions.show(found) };
    if (version !== undefined) throw buildNoSuchVersionRefusal();
    const nothing = { version: null, sha256: null, created_by: null, created_at: null };
    return { text: '', name: '', note: '', restored_from: null, ...nothing };
  },
});

/** The schema of a version that was saved and activated. */
export const savedDocument = Type.Object({
  text: Type.String(),
  ...policyVersions.schema.properties,
  ...activatedProperties,
});

export const policyDocumentSave = defineOperation({
  name: 'policy_document_save',
  summary: 'Save the policy document',
  description:
    'Saves a document as the next version, and activates it in all workers before the answer. A document that does not compile is refused and not saved; so is a rule name that the configuration or a file already has.',
  http: { method: 'PUT', path: '/v1/dashboard/policies/document' },
  permission: 'policies:edit',
  caller: 'person',
  tenants: 'all',
  needs: 'live',
  input: Type.Object({
    text: documentText,
    name: Type.Optional(buildLineSchema('The name of the version.')),
    note: Type.Optional(buildLineSchema('Why; shown in the history.')),
    ...confirmInput,
    base_version: Type.Optional(
      Type.Integer({
        minimum: 0,
        description:
          'The version that was edited, 0 for none. The call is refused if another one is current.',
      }),
    ),
  }),
  output: savedDocument,
  example: {
    text: 'policies:\n  - name: no-cards\n    boundary: output\n    data_tags: [personal.financial.card]\n    action: block\n',
    note: 'Cards stay inside',
    base_version: 0,
  },
  answer: null,
  refusals: ['conflict', 'policy_invalid', 'weaker_policy'],
  run: (input, context) =>
    saveDocument(
      { ...input, name: dropBlankName(input.name) ?? '', note: dropBlankName(input.note) ?? '' },
      null,
      input.base_version ?? null,
      context,
    ),
});

export const policyDocumentRollback = defineOperation({
  name: 'policy_document_rollback',
  summary: 'Restore an earlier version of the policy document',
  description:
    'Saves the text of an earlier version as the next version, and activates it in all workers. The history stays as it is.',
  http: { method: 'POST', path: '/v1/dashboard/policies/document/rollback' },
  cli: {
    verb: 'policy rollback',
    arguments: ['version'],
    options: ['note', 'confirm_weaker'],
    line: ({ version, restored_from }) =>
      `Version ${version} is active, with the text of version ${restored_from}.`,
    examples: [['customshouse policy rollback 3 --note "too strict"', '']],
  },
  permission: 'policies:edit',
  caller: 'person',
  tenants: 'all',
  needs: 'owner',
  input: Type.Object({
    version: buildOptionalNumberSchema('The version to restore.'),
    note: Type.Optional(buildLineSchema('Why; shown in the history.')),
    ...confirmInput,
  }),
  output: savedDocument,
  example: { version: 1, confirm_weaker: true, note: 'Asked for by the owner of the data' },
  answer: null,
  refusals: ['not_found', 'conflict', 'policy_invalid', 'weaker_policy'],
  async run({ version, note, confirm_weaker }, context) {
    const { db } = await context.runtime.store();
    const found = await findPolicyVersion(db, version);
    if (found === null) throw buildNoSuchVersionRefusal();
    const { text: old, name } = found;
    const document = { text: old, name, note: dropBlankName(note) ?? '', confirm_weaker };
    return saveDocument(document, version, null, context);
  },
});

export const policyVersionsList = defineOperation({
  name: 'policy_versions_list',
  summary: 'List the versions of the policy document',
  description:
    'The history of the policy document, newest first: each version with its author, time and note.',
  http: { method: 'GET', path: '/v1/dashboard/policies/versions' },
  cli: {
    verb: 'policy versions',
    options: ['cursor', 'limit'],
    columns: {
      rows: 'versions',
      cells: { VERSION: 'version', NAME: 'name', BY: 'created_by', AT: 'created_at', NOTE: 'note' },
      empty: 'Nothing was saved over the API.',
    },
    examples: [['customshouse policy versions', '']],
  },
  permission: 'dashboard:view',
  tenants: 'all',
  for_users: true,
  needs: 'store',
  input: Type.Object({ ...pageInput }),
  output: Type.Object({ versions: Type.Array(policyVersions.schema), ...pageOutput }),
  example: { limit: 20 },
  answer: null,
  async run(input, context) {
    const query = ['policy_versions'];
    const { after: before, limit } = readNumberPage(query, input);
    const { db } = await context.runtime.store();
    const rows = await listPolicyVersions(db, { before, limit: limit + 1 });
    const { entries, next_cursor } = buildListPage(query, rows, limit, ({ version }) => version);
    return { versions: entries.map(policyVersions.show), next_cursor };
  },
});

export const policyVersionDiff = defineOperation({
  name: 'policy_version_diff',
  summary: 'Compare two versions of the policy document',
  description: 'The difference of two versions in the format of `diff -u`.',
  http: { method: 'GET', path: '/v1/dashboard/policies/diff' },
  permission: 'dashboard:view',
  tenants: 'all',
  for_users: true,
  needs: 'store',
  input: Type.Object({
    from: Type.Optional(
      Type.Integer({ minimum: 0, description: 'A version; 0 for no text. Default: the one before `to`.' }),
    ),
    to: Type.Optional(
      Type.Integer({ minimum: 0, description: 'A version; 0 for no text. Default: the current one.' }),
    ),
  }),
  output: Type.Object({
    from: Type.Integer(),
    to: Type.Integer(),
    before: Type.String({ description: 'The text of the first version.' }),
    after: Type.String({ description: 'The text of the second version.' }),
    diff: Type.String({ description: 'Empty if the texts are equal.' }),
  }),
  example: { from: 0, to: 0 },
  answer: { from: 0, to: 0, before: '', after: '', diff: '' },
  refusals: ['not_found'],
  async run(input, context) {
    const { db } = await context.runtime.store();
    const to = input.to ?? (await findPolicyVersion(db))?.version ?? 0;
    const from = input.from ?? Math.max(0, to - 1);
    const textOf = async (version: number): Promise<string> => {
      const found = version === 0 ? { text: '' } : await findPolicyVersion(db, version);
      if (found === null) throw buildNoSuchVersionRefusal();
      return found.text;
    };
    const [before, after] = [await textOf(from), await textOf(to)];
    const { createTwoFilesPatch } = await import('diff');
    const diff =
      before === after ? '' : createTwoFilesPatch(`version ${from}`, `version ${to}`, before, after);
    return { from, to, before, after, diff };
  },
});

/** Saves and activates the next version of the document. */
export async function saveDocument(
  document: Pick<PolicyVersion, 'text' | 'name' | 'note'> & Confirmation,
  restoredFrom: number | null,
  base: number | null,
  context: Context,
) {
  const { runtime, caller } = context;
  const { db } = await runtime.store();
  const current = await findPolicyVersion(db);
  if (base !== null && base !== (current?.version ?? 0)) throw buildConflictRefusal();
  const version: PolicyVersion = {
    version: (current?.version ?? 0) + 1,
    text: document.text,
    name: document.name,
    note: document.note,
    sha256: hashDocumentText(document.text),
    restored_from: restoredFrom,
    created_by: caller.id,
    created_ms: runtime.now_ms(),
  };
  const { warnings, ...active } = await applyManagedChange(
    {
      next: (now) => ({ ...now, document: { version: version.version, text: version.text } }),
      save: async (trx) => {
        if (!(await insertPolicyVersion(trx, version))) throw buildConflictRefusal();
      },
      undo: (trx) => deletePolicyVersion(trx, version.version),
      event: {
        phase: restoredFrom === null ? 'policy_document_save' : 'policy_document_rollback',
        reason: `An operator saved version ${version.version} of the policy document.`,
        metadata: {
          version: version.version,
          before_sha256: current?.sha256 ?? null,
          after_sha256: version.sha256,
          restored_from: restoredFrom,
        },
      },
      confirmation: document,
    },
    context,
  );
  return { text: version.text, ...policyVersions.show(version), ...active, warnings: [...warnings] };
}

function buildNoSuchVersionRefusal(): Refusal {
  return new Refusal('not_found', 'There is no such version of the policy document.');
}

function buildConflictRefusal(): Refusal {
  return new Refusal(
    'conflict',
    'The policy document was changed meanwhile. Read the current version and apply your change to it.',
  );
}

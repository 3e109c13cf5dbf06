/** A document that decides without a rule: the way on for an agent, and its change by an operator. */
export interface DecidingDocument {
  readonly instead: string;
  readonly change: string;
}

/** Documents by the first part of their rule names. */
const DOCUMENTS: Readonly<Record<string, DecidingDocument>> = {
  agent: {
    instead: 'Instead, stop and report it.',
    change: 'Unblock the agent with `customshouse agents unblock`.',
  },
  budget: {
    instead: 'Instead, wait until the budget is reset.',
    change: 'Change `cost.budgets` in `service.yaml`.',
  },
  capability: {
    instead: 'Instead, use the tools of the token, or get another one.',
    change: 'Change the capability token with `customshouse capabilities`.',
  },
  contract: {
    instead: 'Instead, call a declared tool with the arguments of its contract.',
    change: 'Change the contract of the tool, in the files of `paths.contract_files`.',
  },
  coverage: {
    instead: 'Instead, send less at once.',
    change: 'Change the limits under `scan` in `service.yaml`.',
  },
  default: {
    instead: 'Instead, leave out the content with this tag.',
    change: 'Add a rule for the tag under `policies` in `service.yaml`.',
  },
  fault: {
    instead: 'Instead, try again later.',
    change: 'Find the cause with `customshouse status` and `customshouse logs`.',
  },
  identity: {
    instead: 'Instead, use a tool and data of the identity.',
    change: 'Change the identity of the agent, in the files of `paths.identity_files`.',
  },
  memory: {
    instead: 'Instead, use a field of the memory schema.',
    change: 'Change the memory schema, in the files of `paths.memory_schema_files`.',
  },
};

/** Returns the document with this name; `null` for the name of a rule. */
export function findDecidingDocument(name: string): DecidingDocument | null {
  const first = name.split('.')[0]!;
  return Object.hasOwn(DOCUMENTS, first) ? DOCUMENTS[first]! : null;
}

/** Returns another way than the denied one, and how to change the document, as sentences. */
export function describeDocument({ instead, change }: DecidingDocument): string {
  return `${instead} An operator can ${change[0]!.toLowerCase()}${change.slice(1)}`;
}

/** Returns the sentence for a denial that waits for an approval. */
export function describePendingApproval(requestId: string): string {
  return `To approve this call once: \`customshouse approvals approve ${requestId}\`; then repeat it.`;
}

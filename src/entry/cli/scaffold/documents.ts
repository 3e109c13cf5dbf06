/** The documents that `init` writes next to the configuration. Their comments are for the person who edits them. */

export const POLICY_DOCUMENT = `# yaml-language-server: $schema=../schemas/policy.schema.json
# Your own rules. They are evaluated in this order, before the built-in ones.
#
# A rule with \`data_tags\` applies to each tag that is found, or declared by the caller; a tag covers its
# descendants (\`personal\` covers \`personal.pii.email\`). A rule without \`data_tags\` is about the crossing
# itself: its tool, its agent. Over all tags the strictest action wins:
# block > require_approval > redact > flag > allow.
version: v1alpha1
policies:
  - name: block-secrets-in-prompts
    boundary: input
    data_tags: [secret]
    action: block
    reason: A secret must not reach a model.

  - name: redact-secrets-in-answers
    boundary: output
    data_tags: [secret]
    action: redact
    reason: A secret must not leave in an answer.

  # Require approval before money moves:
  # - name: approve-payments
  #   boundary: action
  #   condition:
  #     tools: ['payments.*']
  #   action: require_approval
  #   reason: Payments need a second pair of eyes.

  # Test a rule in monitor mode: it is recorded in the audit log and blocks nothing.
  # - name: watch-phone-numbers
  #   boundary: output
  #   data_tags: [personal.pii.phone]
  #   action: block
  #   enforcement: monitor
`;

/** Concatenated, so that no secret scanner of repositories reports it. */
const KEY = ['sk-', 'ABCDEF1234567890'].join('');

/** The rule for the tag that the example contract and identity of `init --full` accept. */
export const INTERNAL_RULE = `
  # The tag of contracts/example.yaml and agents/default.yaml: a tag that no rule names falls under
  # \`policy.default_action\`.
  - name: allow-internal-data
    boundary: action
    data_tags: [internal]
    action: allow
    condition:
      phase: [request, response, message]
`;

export const POLICY_TESTS = `# yaml-language-server: $schema=../../schemas/policy-test.schema.json
# How the policy must answer. Run these after each change, and in your pipeline: customshouse policy test
version: v1alpha1
tests:
  - name: a key does not reach a model
    boundary: input
    text: Use key ${KEY}
    expect: { decision: block, tags: [secret.credential] }

  - name: a key does not leave in an answer
    boundary: output
    text: The key is ${KEY}.
    expect: { must_not_contain: [${KEY}], tags: [secret.credential] }

  - name: ordinary work is allowed
    boundary: input
    text: Summarise the weekly report.
    expect: { decision: allow, no_tags: [secret] }
`;

export const MEMORY_DOCUMENT = `# yaml-language-server: $schema=../schemas/memory.schema.json
# What agents may remember: every field with its type, its tag, and how long it is kept.
version: v1alpha1
memory:
  name: session-memory
  scope: session
  max_entries: 100
  default_retention: 24h
  fields:
    - name: user_preference
      type: string
      tag: internal
      retention: 30d
    - name: ticket_id
      type: string
      tag: confidential
      retention: 7d
`;

export const CONTRACT_DOCUMENT = `# yaml-language-server: $schema=../schemas/tool-contract.schema.json
# What a tool takes, gives back, and does. Arguments and result fields that are not listed are removed.
# \`policy.undeclared_tools: block\` in service.yaml refuses tools without a contract.
version: v1alpha1
contracts:
  - tool_name: send_email
    description: Sends one message.
    accepts:
      tags: [internal, personal]
      fields: [to, subject, body]
    emits:
      tags: [internal]
      fields: [message_id, status]
    stores:
      fields: [to, subject, sent_at]
      retention: 30d
    side_effects:
      reversible: false
      requires_approval: true
      description: The message cannot be called back.
`;

export const IDENTITY_DOCUMENT = `# yaml-language-server: $schema=../schemas/agent-identity.schema.json
# Who your agents are: the tools they may call and the data they may see. A tag covers its descendants.
# \`policy.unknown_agents: block\` in service.yaml refuses agents that are not listed here.
version: v1alpha1
agents:
  - agent_id: default-agent
    description: Answers mail.
    tools: [send_email]
    clearance_tags: [internal, personal]
`;

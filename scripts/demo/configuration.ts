/** The configuration of the demonstration: four tenants with rules, contracts, identities and budgets of their own. */

export const DEMO_CONFIGURATION = `# Made by \`npm run demo\`. Change it, and run \`customshouse policy reload\`.
server: { mode: gateway, workers: 1 }
policy: { undeclared_tools: allow, unknown_agents: allow }
pii_protection: { enabled: true, action: redact }
approvals: { ttl_max: 24h }
alerts:
  rules:
    - rule_id: repeated-blocks
      name: An agent was blocked repeatedly
      source: decisions
      filters: { actions: [block] }
      threshold: 2
      window: 1h
      group_by: [tenant, agent]
      severity: high
    - { rule_id: approvals-waiting, name: An approval waits, source: approvals_waiting, after: 5m, severity: medium }
cost:
  budgets:
    - { name: all-models, limit_usd: 60, period: day }
    - { name: each-agent, scope: { agent_id: each }, limit_usd: 6, period: day, enforcement: monitor }
    - { name: umbrella-research, scope: { tenant_id: umbrella, agent_id: literature-scout }, limit_usd: 1.2, period: day }
dashboard:
  users:
    - { user_id: admin, role: admin, tenants: ['*'] }
    - { user_id: viewer, role: viewer, tenants: ['*'] }
    - { user_id: billing, role: billing, tenants: ['*'] }
    - { user_id: anna, role: approver, tenants: [acme, globex] }
    - { user_id: noah, role: auditor, tenants: [umbrella] }
policies:
  - name: no-metadata-endpoints
    boundary: action
    data_tags: [egress.metadata_endpoint]
    action: block
    reason: Addresses that serve the credentials of a machine are closed to agents.
  - name: no-mail-after-customer-data-from-the-web
    boundary: action
    condition: { tools: [send_email, http_post], phase: request, session_tags: [untrusted.web, personal.*] }
    action: block
    reason: The session has the taint tags of both the web and customer data.
  - name: destructive-sql-needs-approval
    boundary: action
    data_tags: [sql.delete, sql.drop, sql.truncate]
    action: require_approval
    reason: A statement that deletes data needs approval.
  - name: deployments-need-approval
    boundary: action
    condition: { tools: [deploy], phase: request }
    action: require_approval
    approval: { ttl: 24h, min_approvals: 1 }
    reason: A deployment to production needs approval.
  - name: watch-files-outside-the-workspace
    boundary: action
    data_tags: [path.outside_workspace]
    action: block
    enforcement: monitor
    reason: Agents work inside their workspace.
  - name: the-web-is-not-trusted
    boundary: action
    condition: { tools: [fetch_page, web_search], phase: response }
    session: { add: [untrusted.web] }
tenants:
  acme:
    policies:
      - name: acme-refunds-need-approval
        boundary: action
        condition: { tools: [issue_refund], phase: request }
        action: require_approval
        approval: { ttl: 24h, min_approvals: 1 }
        reason: A refund needs approval.
  globex:
    policies:
      - name: globex-payments-need-two
        boundary: action
        condition: { tools: [transfer_money], phase: request }
        action: require_approval
        approval: { ttl: 24h, min_approvals: 2 }
        reason: A payment needs two approvals.
      - name: globex-cards-stay-here
        boundary: output
        data_tags: [personal.pii.card]
        action: block
        reason: Card numbers are never shown.
  umbrella:
    policies:
      - name: umbrella-watch-mail-addresses
        boundary: output
        data_tags: [personal.pii.email]
        action: block
        enforcement: monitor
        reason: Answers to patients name no mail address.
`;

const CONTRACTS = `version: v1alpha1
contracts:
  - tool_name: find_customer
    description: Finds customers by name or number.
    arguments:
      type: object
      required: [query]
      properties: { query: { type: string, maxLength: 200 } }
      additionalProperties: false
    allowed_agents: [support-bot, order-bot, refund-bot]
    accepts: { fields: [query] }
    emits: { fields: [name, email, orders] }
    side_effects: { reversible: true, requires_approval: false, egress: false }
  - tool_name: issue_refund
    description: Pays an order back.
    arguments:
      type: object
      required: [order, amount]
      properties: { order: { type: string }, amount: { type: number, maximum: 450 } }
    accepts: { fields: [order, amount] }
    emits: { fields: [paid] }
    side_effects: { reversible: false, requires_approval: false, egress: false }
  - tool_name: send_email
    description: Sends a mail.
    accepts: { fields: [to, subject, text] }
    emits: { fields: [sent] }
    side_effects: { reversible: false, requires_approval: false, egress: true }
  - tool_name: deploy
    description: Deploys a version.
    allowed_agents: [deploy-bot]
    max_calls_per_minute: 6
    accepts: { fields: [version, target] }
    emits: { fields: [ok] }
    side_effects: { reversible: false, requires_approval: false, egress: false }
`;

const IDENTITIES = `version: v1alpha1
agents:
  - agent_id: support-bot
    description: Answers customers of the shop.
    tools: [find_customer, track_order, send_email, search_help]
  - agent_id: deploy-bot
    description: Deploys versions that were reviewed.
    tools: [deploy, run_command, read_file]
`;

/** Documents below `policies/`, by the name of the file. */
export const DEMO_DOCUMENTS: Readonly<Record<string, string>> = {
  'contracts.yaml': CONTRACTS,
  'identities.yaml': IDENTITIES,
};

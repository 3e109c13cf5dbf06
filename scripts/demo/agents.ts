/** One agent of the demonstration: its tenant, its model and the kind of its work. */
export interface DemoAgent {
  readonly agent_id: string;
  readonly tenant_id: string;
  readonly model: string;
  readonly provider: string;
  readonly work: 'support' | 'finance' | 'coding' | 'health' | 'research';
  /** Sessions in a day. */
  readonly sessions: number;
}

const claude = { model: 'claude-sonnet-4-5', provider: 'anthropic' } as const;
const opus = { model: 'claude-opus-4-5', provider: 'anthropic' } as const;
const gpt = { model: 'gpt-5-mini', provider: 'openai' } as const;
const gemini = { model: 'gemini-2.5-flash', provider: 'google' } as const;
const local = { model: 'qwen3-coder-480b', provider: 'local' } as const;

export const DEMO_AGENTS: readonly DemoAgent[] = [
  { agent_id: 'support-bot', tenant_id: 'acme', ...gpt, work: 'support', sessions: 34 },
  { agent_id: 'order-bot', tenant_id: 'acme', ...gpt, work: 'support', sessions: 22 },
  { agent_id: 'refund-bot', tenant_id: 'acme', ...claude, work: 'support', sessions: 12 },
  { agent_id: 'marketing-writer', tenant_id: 'acme', ...gemini, work: 'research', sessions: 6 },
  { agent_id: 'research-crawler', tenant_id: 'acme', ...gemini, work: 'research', sessions: 9 },
  { agent_id: 'invoice-reader', tenant_id: 'globex', ...gpt, work: 'finance', sessions: 16 },
  { agent_id: 'payments-agent', tenant_id: 'globex', ...claude, work: 'finance', sessions: 10 },
  { agent_id: 'ledger-analyst', tenant_id: 'globex', ...opus, work: 'finance', sessions: 8 },
  { agent_id: 'fraud-watch', tenant_id: 'globex', ...gpt, work: 'finance', sessions: 14 },
  { agent_id: 'tax-helper', tenant_id: 'globex', ...claude, work: 'finance', sessions: 5 },
  { agent_id: 'coder-1', tenant_id: 'initech', ...opus, work: 'coding', sessions: 14 },
  { agent_id: 'coder-2', tenant_id: 'initech', ...claude, work: 'coding', sessions: 16 },
  { agent_id: 'reviewer', tenant_id: 'initech', ...claude, work: 'coding', sessions: 9 },
  { agent_id: 'deploy-bot', tenant_id: 'initech', ...local, work: 'coding', sessions: 6 },
  { agent_id: 'incident-helper', tenant_id: 'initech', ...opus, work: 'coding', sessions: 4 },
  { agent_id: 'intake-nurse', tenant_id: 'umbrella', ...claude, work: 'health', sessions: 14 },
  { agent_id: 'scheduler', tenant_id: 'umbrella', ...gpt, work: 'health', sessions: 18 },
  { agent_id: 'lab-results', tenant_id: 'umbrella', ...gpt, work: 'health', sessions: 8 },
  { agent_id: 'claims-bot', tenant_id: 'umbrella', ...claude, work: 'health', sessions: 9 },
  { agent_id: 'literature-scout', tenant_id: 'umbrella', ...opus, work: 'research', sessions: 6 },
];

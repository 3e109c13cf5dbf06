/** The metric label of a check. */
export type Endpoint =
  | 'scan_input'
  | 'scan_structured'
  | 'scan_file'
  | 'guard_output'
  | 'intercept_tool'
  | 'intercept_agent_message'
  | 'secrets_resolve'
  | 'memory_write'
  | 'memory_read'
  | 'memory_resolve_handle'
  | 'llm_request'
  | 'llm_response'
  | 'llm_tool_call'
  | 'llm_tool_result'
  | 'proxy_forward';

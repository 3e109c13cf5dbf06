import { buildVocabulary, SCHEMA_KEYS, type WireVocabulary } from './vocabulary.ts';

/** The keys of Anthropic's protocol. */
export const ANTHROPIC: WireVocabulary = buildVocabulary({
  word: `${SCHEMA_KEYS.word} id role model name media_type ttl tool_use_id stop_reason service_tier speed effort display
    tool_id skill_id file_id version inference_geo category error_code file_type toolset_name server_name mode status
    tool_name request_id allowed_callers previous_message_id container user_profile_id workspace_id expires_at
    mcp_server_name`,
  said: `${SCHEMA_KEYS.said} messages content system text source title context citations cited_text document_title
    document_index thinking tools cache_control tool_choice stop_sequences stop_sequence input_schema enabled caller
    page_age retrieved_at explanation stdout stderr lines return_code max_tokens stream temperature top_k top_p
    budget_tokens output_config output_format schema disable_parallel_tool_use defer_loading max_uses max_content_tokens
    allowed_domains blocked_domains user_location city country region timezone skills betas mcp_servers
    tool_configuration allowed_tools authorization_token context_management edits tool_references message delta usage
    index input_tokens output_tokens cache_creation cache_creation_input_tokens cache_read_input_tokens
    ephemeral_5m_input_tokens ephemeral_1h_input_tokens server_tool_use web_search_requests web_fetch_requests
    output_tokens_details thinking_tokens stop_details content_block citation start_char_index end_char_index
    start_page_number end_page_number start_block_index end_block_index search_result_index error is_error
    num_lines start_line total_lines new_lines new_start old_lines old_start is_file_update diagnostics
    cache_miss_reason cache_missed_input_tokens transformations oversized_image eager_input_streaming
    display_width_px display_height_px display_number max_characters use_cache url_sources`,
  map: SCHEMA_KEYS.map,
  free: `${SCHEMA_KEYS.free} metadata input input_examples partial_json`,
  sealed: 'signature encrypted_content encrypted_index encrypted_stdout',
  media: 'data url',
});

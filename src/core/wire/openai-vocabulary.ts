import { buildVocabulary, SCHEMA_KEYS, type WireVocabulary } from './vocabulary.ts';

/** The keys of OpenAI's protocols and of compatible ones. */
export const OPENAI: WireVocabulary = buildVocabulary({
  word: `${SCHEMA_KEYS.word} id object model role status detail quality size background output_format moderation phase
    effort tool_choice truncation service_tier verbosity reasoning_effort name call_id tool_call_id item_id file_id
    container_id previous_response_id conversation container vector_store_ids file_ids include modalities voice
    encoding_format finish_reason system_fingerprint mode syntax ranker search_context_size search_content_types
    server_label connector_id require_approval allowed_callers allowed_tools tool_names caller_id execution
    fingerprint namespace created_by version ttl prompt_cache_retention memory_limit environment button
    approval_request_id obfuscation skill_id input_fidelity action media_type`,
  said: `${SCHEMA_KEYS.said} messages content text refusal input_audio file filename audio transcript
    function functions tools custom tool_calls function_call description definition grammar instructions
    parameters output summary prompt_cache_key reasoning reasoning_content reasoning_text reasoning_details response_format json_schema
    schema prediction stop suffix prompt user stream stream_options include_usage include_obfuscation temperature
    top_p top_k n best_of echo seed frequency_penalty presence_penalty max_tokens max_completion_tokens
    max_output_tokens max_tool_calls logprobs top_logprobs parallel_tool_calls store safety_identifier
    web_search_options user_location approximate city country region timezone choices index delta message usage
    created created_at completed_at annotations url_citation title start_index end_index token bytes logprob
    prompt_tokens completion_tokens total_tokens input_tokens output_tokens cached_tokens reasoning_tokens
    prompt_tokens_details completion_tokens_details input_tokens_details output_tokens_details audio_tokens
    accepted_prediction_tokens rejected_prediction_tokens cache_write_tokens text_tokens image_tokens
    dimensions error code param incomplete_details reason queries results score actions
    commands command stdout stderr outcome exit_code code outputs logs pattern query sources operation diff path keys
    pending_safety_checks acknowledged_safety_checks call caller tool_usage prompt_cache_breakpoint
    prompt_cache_options output_index content_index summary_index sequence_number item part response annotation
    annotation_index command_index server_description server_url authorization image expires_at
    text_offset tokens token_logprobs file_citation defer_loading async
    output_schema x y scroll_x scroll_y timeout_ms max_output_length working_directory partial_image_index
    display_width display_height external_web_access compact_threshold context_management approve`,
  map: `${SCHEMA_KEYS.map} variables`,
  free: `${SCHEMA_KEYS.free} metadata logit_bias headers attributes filters env arguments input input_schema`,
  sealed: 'encrypted_content b64_json partial_image_b64 embedding',
  media: 'data url image_url file_data file_url',
});

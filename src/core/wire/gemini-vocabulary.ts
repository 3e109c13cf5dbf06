import { buildVocabulary, type MemberMeaning, SCHEMA_KEYS, type WireVocabulary } from './vocabulary.ts';

const KEYS: Readonly<Record<MemberMeaning, string>> = {
  word: `${SCHEMA_KEYS.word} id role name model modelVersion responseId createTime mimeType finishReason category
    threshold probability severity method language outcome responseMimeType responseModalities mode toolType level
    cachedContent blockReason modality trafficType urlRetrievalStatus behavior scheduling allowedFunctionNames
    mediaResolution voiceName languageCode thinkingLevel serviceTier environment placeId aspectRatio imageSize
    modelStage retirementTime startOffset endOffset tokenId`,
  said: `${SCHEMA_KEYS.said} contents content parts text thought systemInstruction tools toolConfig safetySettings
    generationConfig inlineData fileData fileUri displayName functionCall functionResponse executableCode code
    codeExecutionResult output functionDeclarations parameters response parametersJsonSchema responseJsonSchema
    responseSchema stopSequences temperature topP topK candidateCount maxOutputTokens presencePenalty frequencyPenalty
    seed responseLogprobs logprobs thinkingConfig includeThoughts thinkingBudget speechConfig voiceConfig
    prebuiltVoiceConfig functionCallingConfig codeExecution googleSearch googleSearchRetrieval urlContext computerUse
    retrievalConfig latLng latitude longitude videoMetadata fps candidates index promptFeedback safetyRatings blocked
    usageMetadata promptTokenCount candidatesTokenCount totalTokenCount thoughtsTokenCount cachedContentTokenCount
    toolUsePromptTokenCount promptTokensDetails candidatesTokensDetails cacheTokensDetails
    toolUsePromptTokensDetails tokenCount citationMetadata citations citationSources startIndex endIndex uri license
    groundingMetadata groundingChunks web domain groundingSupports segment partIndex groundingChunkIndices
    confidenceScores webSearchQueries searchEntryPoint renderedContent retrievedContext avgLogprobs logprobsResult
    chosenCandidates topCandidates token logProbability urlContextMetadata urlMetadata retrievedUrl finishMessage
    willContinue imageConfig error message status`,
  map: SCHEMA_KEYS.map,
  free: `${SCHEMA_KEYS.free} args labels partMetadata`,
  sealed: 'thoughtSignature sdkBlob continuationToken googleMapsWidgetContextToken',
  media: 'data',
};

/**
 * The keys of Gemini's protocol. Gemini accepts each one in camel case and snake case, so both are included.
 */
export const GEMINI: WireVocabulary = buildVocabulary(
  Object.fromEntries(
    Object.entries(KEYS).map(([meaning, keys]) => [meaning, `${keys} ${toSnakeCase(keys)}`]),
  ),
);

function toSnakeCase(keys: string): string {
  return keys.replace(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Converts a key from snake case to camel case. */
export function toCamelCase(key: string): string {
  return key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

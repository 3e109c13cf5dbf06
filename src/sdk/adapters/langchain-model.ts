/** Puts chat models of LangChain behind a guard, at the functions that every call and every stream of them ends in. */
import { CustomshouseError } from '../errors.ts';
import type { Guard } from '../guard.ts';
import { overrideMembers } from './blocked-call.ts';
import {
  type ChatGeneration,
  type ChatMessage,
  type ChatResult,
  type GenerationChunk,
  guardChunks,
  protectGenerations,
  protectMessages,
  protectResult,
  readMessageText,
} from './langchain-texts.ts';

/** The checks at the calls of a guarded model. */
export interface ModelChecks {
  /** Checks prompts too. Default `false`: the caller checks them. */
  readonly checks_prompts?: boolean;
  /** Receives the text of each answer that is checked. */
  readonly onAnswer?: (text: string) => void;
}

/** The part of a run of LangChain that passes tokens to callbacks. */
interface RunManager {
  readonly handleLLMNewToken?: (
    token: string,
    at: object,
    runId?: undefined,
    parentRunId?: undefined,
    tags?: undefined,
    fields?: object,
  ) => Promise<void>;
}

/** The functions of a chat model that ask the provider. All others of the base class call these. */
interface ChatModel {
  readonly _generate: (messages: readonly ChatMessage[], options: object) => Promise<ChatResult>;
  readonly _streamResponseChunks?: (
    messages: readonly ChatMessage[],
    options: object,
  ) => AsyncIterable<GenerationChunk>;
  readonly _streamChatModelEvents?: unknown;
  readonly cache?: { readonly lookup: (...key: unknown[]) => Promise<readonly ChatGeneration[] | null> };
}

const NOT_A_MODEL =
  'Only a chat model of LangChain, or one with bound tools or settings, can be guarded. Guard the model before you add it to a chain.';

/**
 * Returns the same model behind the guard. Callbacks and streams receive checked text only. Models that the model
 * makes of itself, such as one with bound tools, are guarded too.
 *
 * @throws CustomshouseError if it is not a chat model
 */
export function guardChatModel<Model extends object>(model: Model, guard: Guard, checks: ModelChecks): Model {
  const known = new WeakMap<object, object>();
  const wrap = (value: unknown): unknown => {
    if (!isModel(value)) return value;
    const guarded = known.get(value) ?? wrapModel(value);
    known.set(value, guarded);
    known.set(guarded, guarded);
    return guarded;
  };
  const wrapModel = (inner: object): object => {
    const own = isChatModel(inner) ? buildCalls(inner, guard, checks) : {};
    return new Proxy(inner, {
      get: (target, name, receiver) => {
        if (Object.hasOwn(own, name)) return (own as Record<PropertyKey, unknown>)[name];
        const value: unknown = Reflect.get(target, name, receiver);
        if (typeof value !== 'function' || name === 'constructor') return wrap(value);
        return new Proxy(value, { apply: (call, self, args) => wrapLater(Reflect.apply(call, self, args)) });
      },
    });
  };
  const wrapLater = (value: unknown) => (value instanceof Promise ? value.then(wrap) : wrap(value));
  if (!isModel(model)) throw new CustomshouseError(NOT_A_MODEL);
  return wrap(model) as Model;
}

function isChatModel(value: object): value is ChatModel {
  const { _generate, _modelType } = value as { _generate?: unknown; _modelType?: unknown };
  if (typeof _generate !== 'function' || typeof _modelType !== 'function') return false;
  return _modelType.call(value) === 'base_chat_model';
}

/** Also accepts a model with bound tools or settings, which holds it as `bound`. */
function isModel(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  return isChatModel(value) || isModel((value as { bound?: unknown }).bound);
}

/** Builds the functions that take the place of those that ask the provider. They keep callbacks from the provider's. */
function buildCalls(
  model: ChatModel,
  guard: Guard,
  { checks_prompts = false, onAnswer = () => {} }: ModelChecks,
): object {
  const base = findBase(model);
  const protect = (messages: readonly ChatMessage[]) =>
    checks_prompts ? protectMessages(messages, guard) : Promise.resolve(messages);
  const note = <Given extends readonly ChatGeneration[] | null>(generations: Given): Given => {
    for (const { message } of generations ?? []) onAnswer(readMessageText(message));
    return generations;
  };
  const stream = async function* (messages: readonly ChatMessage[], options: object, run?: RunManager) {
    const source = model._streamResponseChunks!(await protect(messages), options);
    let text = '';
    for await (const chunk of guardChunks(source, guard)) {
      text += chunk.text;
      yield chunk;
      await run?.handleLLMNewToken?.(chunk.text, FIRST, undefined, undefined, undefined, { chunk });
    }
    onAnswer(text);
  };
  const { cache } = model;
  return {
    _generate: async (messages: readonly ChatMessage[], options: object) => {
      const result = await protectResult(await model._generate(await protect(messages), options), guard);
      note(result.generations);
      return result;
    },
    // LangChain asks whether a model streams by comparing this function with that of its base class.
    ...(model._streamResponseChunks !== base._streamResponseChunks && { _streamResponseChunks: stream }),
    // The function of the base class reads the chunks above; one of a provider would pass them by.
    _streamChatModelEvents: base._streamChatModelEvents,
    ...(cache && {
      cache: overrideMembers(cache, {
        lookup: async (...key: unknown[]) => {
          const found = await cache.lookup(...key);
          return found === null ? null : note(await protectGenerations(found, guard));
        },
      }),
    }),
  };
}

const FIRST = { prompt: 0, completion: 0 };

/** Returns the prototype of LangChain's base class of chat models. */
function findBase(model: object): Partial<ChatModel> {
  let base: object = {};
  for (let each = model; each !== null; each = Object.getPrototypeOf(each) as object)
    if (Object.hasOwn(each, '_generateUncached')) base = each;
  return base;
}

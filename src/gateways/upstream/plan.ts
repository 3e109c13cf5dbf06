import { matchesAny, matchesName } from '../../core/tags.ts';
import type { ProviderFamily } from '../../core/wire/wire-format.ts';
import { UpstreamFailure } from './failure.ts';
import type { Provider, ProviderKey, ProxySettings } from './settings.ts';
import { providersOf, targetOf } from './settings.ts';
import type { ModelCatalogue, UpstreamRequest } from './types.ts';

/** One way of making a call: a provider, one of its keys, and the model that is asked for there. */
export interface Target {
  /** Names it among all targets. */
  readonly id: string;
  readonly provider: Provider;
  readonly key: ProviderKey | null;
  readonly model: string | null;
  readonly weight: number;
  readonly priority: number;
}

/** Which targets can serve a call. */
export interface Directory {
  /**
   * Groups of targets, all of one tried before those of the next: what serves the model, then its fallbacks.
   * @throws UpstreamFailure where there is none
   */
  readonly groupsFor: (
    request: Pick<UpstreamRequest, 'wire' | 'model' | 'provider'>,
  ) => readonly (readonly Target[])[];
  readonly catalogue: ModelCatalogue;
}

/** Reads the configuration once. */
export function openDirectory(settings: ProxySettings): Directory {
  const providers = providersOf(settings);
  const last = targetOf(settings);
  const byName = new Map(providers.map((provider) => [provider.name, provider]));

  const aliased = (model: string, family: ProviderFamily): Target[] =>
    (Object.hasOwn(settings.models, model) ? settings.models[model]! : []).flatMap((entry) => {
      const provider = byName.get(entry.provider);
      return provider?.family === family ? targetsAt(provider, entry.model, entry) : [];
    });
  const named = (model: string, family: ProviderFamily): Target[] => {
    const slash = model.indexOf('/');
    const provider = slash === -1 ? undefined : byName.get(model.slice(0, slash));
    return provider?.family === family ? targetsAt(provider, model.slice(slash + 1), provider) : [];
  };
  const serving = (model: string | null, family: ProviderFamily): Target[] =>
    providers
      .filter((one) => one.family === family && (model === null || matchesAny(one.models, model)))
      .flatMap((one) => targetsAt(one, model, one));
  const otherwise = (model: string | null, family: ProviderFamily): Target[] =>
    last !== null && (last.family ?? family) === family ? targetsAt(last, model, last) : [];
  const resolved = (model: string | null, family: ProviderFamily): Target[] => {
    const ways = model === null ? [] : [aliased, named];
    for (const way of ways) {
      const targets = way(model!, family);
      if (targets.length > 0) return targets;
    }
    const targets = serving(model, family);
    return targets.length > 0 ? targets : otherwise(model, family);
  };

  return {
    groupsFor: ({ wire, model, provider }) => {
      const family = familyOf(wire);
      if (provider !== undefined) {
        const one = [...providers, ...(last === null ? [] : [last])].find(({ name }) => name === provider);
        if (one === undefined) throw notConfigured(family);
        return [targetsAt(one, model, one)];
      }
      const fallback =
        model === null ? undefined : settings.fallbacks.find((one) => matchesName(one.model, model));
      const names = [model, ...(fallback?.to ?? [])];
      const groups = names.map((name) => resolved(name, family)).filter((group) => group.length > 0);
      if (groups.length > 0) return eachOnce(groups);
      const is_known = last?.family === family || providers.some((one) => one.family === family);
      throw is_known ? unknownModel() : notConfigured(family);
    },
    catalogue: catalogueOf(settings, { providers, last, aliased, resolved }),
  };
}

type FindTargets<Name> = (model: Name, family: ProviderFamily) => readonly Target[];

interface CatalogueParts {
  readonly providers: readonly Provider[];
  /** `proxy.target`. */
  readonly last: Provider | null;
  readonly aliased: FindTargets<string>;
  readonly resolved: FindTargets<string | null>;
}

function catalogueOf(
  { models, fallbacks }: ProxySettings,
  { providers, last, aliased, resolved }: CatalogueParts,
): ModelCatalogue {
  return {
    aliases: (family) => {
      const names = Object.keys(models).filter((name) => aliased(name, family).length > 0);
      const replaced = fallbacks
        .filter(
          ({ model, to }) => !model.includes('*') && to.some((name) => resolved(name, family).length > 0),
        )
        .map(({ model }) => model);
      return [...new Set([...names, ...replaced])];
    },
    providers: (family) => {
      const own = providers.filter((one) => one.family === family);
      const serves_all = own.some((one) => one.models.includes('*'));
      const is_asked = last !== null && (last.family ?? family) === family && !serves_all;
      return [...own, ...(is_asked ? [last] : [])].map(({ name }) => name);
    },
    routes: (model, provider, family) =>
      resolved(model, family).some((target) => target.provider.name === provider),
  };
}

/** The family whose API a call is written in. */
export function familyOf(wire: UpstreamRequest['wire']): ProviderFamily {
  return wire.slice(0, wire.indexOf('.')) as ProviderFamily;
}

/** Each key of a provider is a target of its own. */
function targetsAt(
  provider: Provider,
  model: string | null,
  { weight, priority }: { readonly weight: number; readonly priority: number },
): Target[] {
  const at = (key: ProviderKey | null, number: number, share: number): Target => ({
    id: JSON.stringify([provider.name, number, model]),
    provider,
    key,
    model,
    weight: weight * share,
    priority,
  });
  const keys_weight = provider.keys.reduce((sum, key) => sum + key.weight, 0);
  if (provider.keys.length === 0) return [at(null, 0, 1)];
  return provider.keys.map((key, number) => at(key, number, key.weight / keys_weight));
}

function eachOnce(groups: readonly (readonly Target[])[]): Target[][] {
  const seen = new Set<string>();
  return groups.map((group) =>
    group.filter(({ id }) => {
      const is_new = !seen.has(id);
      seen.add(id);
      return is_new;
    }),
  );
}

function unknownModel(): UpstreamFailure {
  return new UpstreamFailure(
    'model_unknown',
    'No provider is configured that serves this model; see `proxy.providers[].models` and `proxy.models`.',
  );
}

function notConfigured(family: ProviderFamily): UpstreamFailure {
  return new UpstreamFailure(
    'not_configured',
    `No provider is configured for the ${API_NAMES[family]} API: set \`proxy.target\`, or add one with \`family: ${family}\` to \`proxy.providers\`.`,
  );
}

const API_NAMES: Readonly<Record<ProviderFamily, string>> = {
  openai: 'OpenAI',
  anthropic: 'Anthropic',
  gemini: 'Gemini',
};

import { matchesAny, matchesName } from '../../core/tags.ts';
import { type ApiFamilyName, getApiFamily } from '../../core/wire/families/index.ts';
import { UpstreamFailure } from './failure.ts';
import type { ProviderKey, ProxySettings, UpstreamProvider } from './settings.ts';
import { findTargetProvider, listProviders } from './settings.ts';
import type { ModelCatalogue, UpstreamRequest } from './types.ts';

/** A provider, one of its keys, and the model to request there. */
export interface UpstreamTarget {
  /** The id of the target, unique among all targets. */
  readonly id: string;
  readonly provider: UpstreamProvider;
  readonly key: ProviderKey | null;
  readonly model: string | null;
  readonly weight: number;
  readonly priority: number;
}

/** Finds the targets that can serve a call. */
export interface RoutingTable {
  /**
   * Returns groups of targets in the order of attempts: those of the model, then its fallbacks.
   * @throws UpstreamFailure if there is no target
   */
  readonly findTargetGroups: (
    request: Pick<UpstreamRequest, 'wire' | 'model' | 'provider'>,
  ) => readonly (readonly UpstreamTarget[])[];
  readonly catalogue: ModelCatalogue;
}

/** Builds the table from the configuration, once. */
export function buildRoutingTable(settings: ProxySettings): RoutingTable {
  const providers = listProviders(settings);
  const last = findTargetProvider(settings);
  const byName = new Map(providers.map((provider) => [provider.name, provider]));

  const aliased = (model: string, family: ApiFamilyName): UpstreamTarget[] =>
    (Object.hasOwn(settings.models, model) ? settings.models[model]! : []).flatMap((entry) => {
      const provider = byName.get(entry.provider);
      return provider?.family === family ? listProviderTargets(provider, entry.model, entry) : [];
    });
  const named = (model: string, family: ApiFamilyName): UpstreamTarget[] => {
    const slash = model.indexOf('/');
    const provider = slash === -1 ? undefined : byName.get(model.slice(0, slash));
    return provider?.family === family ? listProviderTargets(provider, model.slice(slash + 1), provider) : [];
  };
  const serving = (model: string | null, family: ApiFamilyName): UpstreamTarget[] =>
    providers
      .filter((one) => one.family === family && (model === null || matchesAny(one.models, model)))
      .flatMap((one) => listProviderTargets(one, model, one));
  const otherwise = (model: string | null, family: ApiFamilyName): UpstreamTarget[] =>
    last !== null && (last.family ?? family) === family ? listProviderTargets(last, model, last) : [];
  const resolved = (model: string | null, family: ApiFamilyName): UpstreamTarget[] => {
    const ways = model === null ? [] : [aliased, named];
    for (const way of ways) {
      const targets = way(model!, family);
      if (targets.length > 0) return targets;
    }
    const targets = serving(model, family);
    return targets.length > 0 ? targets : otherwise(model, family);
  };

  return {
    findTargetGroups: ({ wire, model, provider }) => {
      const family = readWireFamily(wire);
      if (provider !== undefined) {
        const one = [...providers, ...(last === null ? [] : [last])].find(({ name }) => name === provider);
        if (one === undefined) throw buildNotConfiguredFailure(family);
        return [listProviderTargets(one, model, one)];
      }
      const fallback =
        model === null ? undefined : settings.fallbacks.find((one) => matchesName(one.model, model));
      const names = [model, ...(fallback?.to ?? [])];
      const groups = names.map((name) => resolved(name, family)).filter((group) => group.length > 0);
      if (groups.length > 0) return removeRepeated(groups);
      const isKnown = last?.family === family || providers.some((one) => one.family === family);
      throw isKnown ? buildUnknownModelFailure() : buildNotConfiguredFailure(family);
    },
    catalogue: buildModelCatalogue(settings, { providers, last, aliased, resolved }),
  };
}

type FindTargets<Name> = (model: Name, family: ApiFamilyName) => readonly UpstreamTarget[];

interface CatalogueParts {
  readonly providers: readonly UpstreamProvider[];
  /** The provider of `proxy.target`. */
  readonly last: UpstreamProvider | null;
  readonly aliased: FindTargets<string>;
  readonly resolved: FindTargets<string | null>;
}

function buildModelCatalogue(
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
      const servesAll = own.some((one) => one.models.includes('*'));
      const needsFallback = last !== null && (last.family ?? family) === family && !servesAll;
      return [...own, ...(needsFallback ? [last] : [])].map(({ name }) => name);
    },
    routes: (model, provider, family) =>
      resolved(model, family).some((target) => target.provider.name === provider),
  };
}

/** Returns the family of the API that a call uses. */
export function readWireFamily(wire: UpstreamRequest['wire']): ApiFamilyName {
  return wire.slice(0, wire.indexOf('.')) as ApiFamilyName;
}

/** Returns one target per key of a provider. Without keys there is one target. */
function listProviderTargets(
  provider: UpstreamProvider,
  model: string | null,
  { weight, priority }: { readonly weight: number; readonly priority: number },
): UpstreamTarget[] {
  const at = (key: ProviderKey | null, number: number, share: number): UpstreamTarget => ({
    id: JSON.stringify([provider.name, number, model]),
    provider,
    key,
    model,
    weight: weight * share,
    priority,
  });
  const keysWeight = provider.keys.reduce((sum, key) => sum + key.weight, 0);
  if (provider.keys.length === 0) return [at(null, 0, 1)];
  return provider.keys.map((key, number) => at(key, number, key.weight / keysWeight));
}

function removeRepeated(groups: readonly (readonly UpstreamTarget[])[]): UpstreamTarget[][] {
  const seen = new Set<string>();
  return groups.map((group) =>
    group.filter(({ id }) => {
      const isNew = !seen.has(id);
      seen.add(id);
      return isNew;
    }),
  );
}

function buildUnknownModelFailure(): UpstreamFailure {
  return new UpstreamFailure(
    'model_unknown',
    'No provider is configured that serves this model; see `proxy.providers[].models` and `proxy.models`.',
  );
}

function buildNotConfiguredFailure(family: ApiFamilyName): UpstreamFailure {
  return new UpstreamFailure(
    'not_configured',
    `No provider is configured for the ${getApiFamily(family).label} API: set \`proxy.target\`, or add one with \`family: ${family}\` to \`proxy.providers\`.`,
  );
}

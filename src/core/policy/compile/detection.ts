import type {
  AllowedDetector,
  AllowedFingerprint,
  CustomPattern,
  Detection,
  DetectorSetting,
  DocumentProblem,
  ExampleValueMode,
  Severity,
} from '../../types/index.ts';
import type { GuardedPaths } from '../../types/policy.ts';
import type { PatternSettings } from './custom-pattern.ts';
import { buildChildLocation, buildDocumentProblem, type DocumentLocation } from './problems.ts';

/** The part of the configuration that controls detection. Its shape was validated when it was read. */
export interface DetectionSettings {
  readonly secret_detection: { readonly enabled: boolean };
  readonly pii_protection: { readonly enabled: boolean };
  readonly injection_detection: {
    readonly enabled: boolean;
    readonly flag_threshold: number;
    readonly block_threshold: number;
  };
  readonly command_detection: { readonly enabled: boolean; readonly wrappers?: readonly string[] };
  /** The `detection` section. */
  readonly detection: {
    readonly detectors: Readonly<Record<string, DetectorSettingInput>>;
    readonly patterns: readonly PatternSettings[];
    readonly allowlist: readonly AllowedFingerprint[];
    /** Detectors that operators allowlisted over the API; absent if there are none. */
    readonly allowed_detectors?: readonly AllowedDetector[];
    readonly example_values: ExampleValueMode;
    /**
     * `true` if plug-ins are not loaded. An unknown name may then be a plug-in's detector, and is only a warning.
     */
    readonly is_partial?: boolean;
  };
  /** The files of this service; absent if they are not known. */
  readonly guarded_paths?: GuardedPaths;
}

/** Overrides for the detectors of one name. */
export interface DetectorSettingInput {
  readonly enabled?: boolean;
  readonly severity?: Severity;
  readonly entropy_min?: number;
}

/** Parses the settings of single detectors and the custom patterns. See `named-detection.ts`. */
export type NamedDetectionParser = (
  detection: DetectionSettings['detection'],
  place: DocumentLocation,
  problems: DocumentProblem[],
) => { readonly patterns: readonly CustomPattern[]; readonly detectors: readonly DetectorSetting[] };

/**
 * Returns whether the settings name single detectors or define patterns, and so need a `NamedDetectionParser`.
 */
export function usesNamedDetectors({ detection }: DetectionSettings): boolean {
  return detection.patterns.length > 0 || Object.keys(detection.detectors).length > 0;
}

/**
 * Builds the detection part of a policy. Adds a problem for each setting that cannot be used.
 *
 * @param parseNamed - required if `usesNamedDetectors`; without it such settings are refused
 */
export function parseDetection(
  settings: DetectionSettings,
  file: string,
  problems: DocumentProblem[],
  parseNamed?: NamedDetectionParser,
): Detection {
  const { secret_detection, pii_protection, injection_detection, command_detection, detection } = settings;
  const place = { file, path: 'detection' };
  const { enabled, flag_threshold, block_threshold } = injection_detection;
  if (flag_threshold > block_threshold) {
    const at = buildChildLocation({ file, path: 'injection_detection' }, 'flag_threshold');
    problems.push(buildDocumentProblem(at, 'must not be above `injection_detection.block_threshold`'));
  }
  const named = parseNamed?.(detection, place, problems) ?? { patterns: [], detectors: [] };
  if (parseNamed === undefined && usesNamedDetectors(settings))
    problems.push(buildDocumentProblem(place, 'names detectors, which nothing here can read'));
  return {
    secret_detection: secret_detection.enabled,
    pii_protection: pii_protection.enabled,
    injection_detection: enabled,
    command_detection: command_detection.enabled,
    ...(command_detection.wrappers?.length && {
      command_wrappers: command_detection.wrappers.map((name) => name.toLowerCase()),
    }),
    example_values: detection.example_values,
    injection_thresholds: { flag_threshold, block_threshold },
    ...named,
    allowlist: parseAllowlist(detection.allowlist, buildChildLocation(place, 'allowlist'), problems),
    ...(detection.allowed_detectors?.length && { allowed_detectors: detection.allowed_detectors }),
    ...(settings.guarded_paths && { guarded_paths: settings.guarded_paths }),
  };
}

function parseAllowlist(
  written: readonly AllowedFingerprint[],
  place: DocumentLocation,
  problems: DocumentProblem[],
): readonly AllowedFingerprint[] {
  const seen = new Set<string>();
  written.forEach(({ fingerprint, tenant_id = null }, at) => {
    const key = JSON.stringify([fingerprint, tenant_id]);
    if (seen.has(key))
      problems.push(
        buildDocumentProblem(buildChildLocation(place, at, 'fingerprint'), 'is in the list twice'),
      );
    seen.add(key);
  });
  return written;
}

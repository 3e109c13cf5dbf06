import { hasVariedCharacters } from '../../matching/check-digits.ts';
import { isLuhn } from '../../matching/checksums.ts';
import type { Detector } from '../../matching/detector.ts';
import { buildIdentifierDetectors } from '../../matching/identifier.ts';

const HEX = '[0-9A-F]{2}';

/** Identifiers of phones, SIM cards and network interfaces. */
export const devices: readonly Detector[] = [
  ...buildIdentifierDetectors({
    id: 'any.imei',
    detector: 'device_id',
    severity: 'medium',
    description:
      'Numbers of mobile telephones (IMEI) with a Luhn digit, or with a software version; alone only in groups.',
    value: '\\d{2}-?\\d{6}-?\\d{6}-?\\d{1,2}',
    check: (code) => code.length === 16 || (isLuhn(code) && hasVariedCharacters(code)),
    standalone: {
      anchors: ['(?<![\\w.-])\\d{2}-\\d{6}', '(?<![\\w.-])\\d{8}'],
      value: '\\d{2}-?\\d{6}-\\d{6}-\\d{1,2}',
    },
    names: ['imei', 'imeisv'],
    valid: ['35-686800-004141-8', '490154203237518', '35686800-004141-20'],
    invalid: ['490154203237519', '35-686800-00414'],
  }),
  ...buildIdentifierDetectors({
    id: 'any.iccid',
    detector: 'device_id',
    severity: 'medium',
    description: 'Numbers of SIM cards (ICCID): 89, country and issuer, a Luhn digit.',
    value: '89\\d{16,18}',
    check: (code) => isLuhn(code) || isLuhn(code.slice(0, -1)),
    names: ['iccid', 'sim card number', 'sim number'],
    valid: ['8991101200003204514'],
    invalid: ['8991101200003204515', '899110120000'],
  }),
  ...buildIdentifierDetectors({
    id: 'any.mac',
    detector: 'device_id',
    severity: 'low',
    description: 'MAC addresses of one device: not broadcast, not multicast, not all zeros.',
    value: `${HEX}(?:(?::${HEX}){5}|(?:-${HEX}){5}|(?:\\.${HEX}){5})|[0-9A-F]{4}\\.[0-9A-F]{4}\\.[0-9A-F]{4}`,
    check: (code) => hasVariedCharacters(code.replaceAll(':', '')) && Number.parseInt(code[1]!, 16) % 2 === 0,
    standalone: {
      anchors: [
        '(?i)(?<![\\w.:-])[0-9a-f]{2}:[0-9a-f]{2}:[0-9a-f]{2}:[0-9a-f]',
        '(?i)(?<![\\w.:-])[0-9a-f]{2}-[0-9a-f]{2}-[0-9a-f]{2}-[0-9a-f]',
      ],
      value: `${HEX}(?:(?::${HEX}){5}(?!:)|(?:-${HEX}){5})`,
    },
    names: ['mac', 'mac address', 'hardware address', 'hwaddr', 'ether', 'physical address', 'bssid'],
    valid: ['00:1A:2B:3C:4D:5E', '00-1A-2B-3C-4D-5E', '001A.2B3C.4D5E'],
    invalid: ['ff:ff:ff:ff:ff:ff', '01:1A:2B:3C:4D:5E', '00:1A:2B:3C:4D'],
  }),
  ...buildIdentifierDetectors({
    id: 'any.mac_written_otherwise',
    detector: 'device_id',
    severity: 'low',
    description: 'MAC and EUI-64 addresses in other notations, next to their name.',
    value: `${HEX}(?:[:. -]?${HEX}){5}(?:[:. -]?${HEX}){0,2}|[0-9A-F]{4}(?:\\.[0-9A-F]{4}){3}`,
    check: (code) => hasVariedCharacters(code.replace(/[^0-9A-F]/g, '')) && /\d/.test(code),
    names: ['mac', 'mac address', 'hardware address', 'hwaddr', 'eui-64', 'eui64'],
    valid: ['001A2B3C4D5E', '01:02:03:04:05:ab', '01-02-03-04-05-06-07-ab'],
    invalid: ['ff:ff:ff:ff:ff:ff', '001A2B3C'],
  }),
  ...buildIdentifierDetectors({
    id: 'any.coordinates',
    detector: 'location',
    severity: 'low',
    description: 'A latitude and a longitude with at least four decimals, next to a name for them.',
    value: '-?\\d{1,2}\\.\\d{4,10}°?[NS]?[ ,;/]{1,3}-?\\d{1,3}\\.\\d{4,10}°?[EW]?',
    names: [
      'gps',
      'gps coordinates',
      'geolocation',
      'my location',
      'current location',
      'home location',
      'lat/lon',
      'latlng',
      'lat,lon',
    ],
    valid: ['52.520008, 13.404954', '-33.8688,151.2093'],
    invalid: ['52.5, 13.4', '52.520008'],
  }),
  ...buildIdentifierDetectors({
    id: 'any.latitude_longitude',
    detector: 'location',
    severity: 'low',
    description:
      'A latitude or a longitude in a separate field, with at least four decimals: some ten metres.',
    value: '-?\\d{1,3}\\.\\d{4,15}',
    check: (_, written) => Math.abs(Number(written)) <= 180,
    names: ['latitude', 'longitude', 'lng'],
    valid: ['52.520008', '-0.127758'],
    invalid: ['52.5', '181.520008'],
  }),
];

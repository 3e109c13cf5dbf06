import { hasFlag, isHarmlessCall, joinWords, listOperands } from '../../shell/options.ts';
import type { Command } from '../../shell/syntax.ts';
import type { CommandRule } from './rule.ts';

/** Rules for gathering what belongs to the person at the machine: recordings, clipboard, browser, documents. */
export const collectionRules: readonly CommandRule[] = [
  {
    id: 'collection.recording',
    tag: 'dangerous.execution',
    severity: 'high',
    programs:
      'sox rec ffmpeg arecord parecord parec pw-record pw-cat gst-launch-1.0 imagesnap fswebcam soundrecorder',
    description: 'Records the microphone, the camera or the screen.',
    safer: 'ffmpeg -i a.wav a.mp3',
    saw: (command) => {
      if (isHarmlessCall(command)) return false;
      const text = joinWords(command);
      if (command.name === 'sox')
        return / (?:-d|--default-device|-t (?:alsa|coreaudio|pulseaudio|waveaudio)) /.test(text);
      if (command.name === 'ffmpeg')
        return / -f (?:avfoundation|dshow|alsa|pulse|x11grab|gdigrab|v4l2|video4linux2|kmsgrab) /.test(text);
      if (command.name === 'pw-cat') return hasFlag(command, '-r', '--record');
      if (command.name === 'gst-launch-1.0')
        return /(?:alsa|pulse|osx(?:audio|video)|v4l2|ximage|avf\w{0,6})src/.test(text);
      return command.words.length > 0;
    },
    hits: ['sox -d a.wav trim 0 15', 'ffmpeg -f avfoundation -i ":0" a.wav', 'arecord -d 10 a.wav'],
    misses: ['sox a.wav b.mp3', 'ffmpeg -i a.wav a.mp3', 'arecord --help', 'rec'],
  },
  {
    id: 'collection.clipboard',
    tag: 'dangerous.discovery',
    severity: 'low',
    programs: 'get-clipboard gcb wl-paste xclip xsel',
    description: 'Keeps or passes on the clipboard, which often holds a password.',
    safer: 'xclip -selection clipboard < notes.txt',
    saw: (command) =>
      /^(?:xclip|xsel)$/.test(command.name)
        ? command.words.some(({ text }) => /^(?:-o|-out|--output)$/.test(text))
        : command.feeds_pipe || command.redirections.length > 0,
    hits: ['Get-Clipboard -Raw | Out-File a.txt', 'xclip -o > a.txt', 'wl-paste >> a.txt'],
    misses: ['Get-Clipboard', 'xclip -selection clipboard < notes.txt', 'Set-Clipboard a', 'xsel --help'],
  },
  {
    id: 'collection.profile',
    tag: 'dangerous.credentials',
    severity: 'medium',
    programs:
      'cat type copy copy-item cp xcopy robocopy mv move tar zip 7z rsync scp sqlite3 find ls dir get-childitem gci get-content gc strings grep select-string compress-archive python python3',
    description: 'Reads or copies the profile of a browser, a mailbox or the messages of a person.',
    safer: 'ls ~/.config',
    saw: (command) =>
      getSearchedWords(command).some((text) => text.length < 600 && PROFILE.test(text.replaceAll('\\', '/'))),
    hits: [
      'cp -r ~/.mozilla/firefox /tmp/a',
      'Copy-Item "$env:APPDATA\\Mozilla\\Firefox\\Profiles\\" -Destination C:\\a -Recurse',
      'sqlite3 ~/Library/Messages/chat.db .dump',
      'find / -path "*/.config/chromium/*/Bookmarks"',
      'Get-Content "C:\\Users\\a\\AppData\\Local\\Google\\Chrome\\User Data\\Default\\History"',
    ],
    misses: [
      'ls ~/.config',
      'cat src/chrome/history.ts',
      'cp docs/bookmarks.md /tmp/',
      'find . -name Profiles',
    ],
  },
  {
    id: 'collection.home_search',
    tag: 'dangerous.discovery',
    severity: 'low',
    programs: 'grep egrep find rg get-childitem gci dir',
    description: 'Searches a whole home folder or disk for addresses, mails or the documents of a person.',
    safer: 'grep -rn needle src',
    saw: searchesHome,
    hits: [
      "grep -EIro '\\b[A-Za-z0-9._%+-]+@corp.test\\b' ~",
      'find /home -name "*.pdf" -o -name "*.docx" -o -name "*.xlsx"',
      'dir c:\\users /s /b *.doc *.xls *.pdf',
    ],
    misses: [
      'grep -rn needle src',
      "find . -name '*.pdf' -o -name '*.docx'",
      "grep -Er '[a-z]+@corp.test' docs",
      'dir *.pdf *.doc',
    ],
  },
  {
    id: 'collection.hidden_folder',
    tag: 'dangerous.filesystem',
    severity: 'low',
    programs: 'mkdir touch cp mv install tee',
    description: 'Makes a hidden folder or file where anyone may write, and where no one looks.',
    safer: 'mkdir -p /tmp/work',
    saw: (command) =>
      listOperands(command).some((path) =>
        /^(?:\/private)?(?:\/var)?\/(?:tmp|dev\/shm)\/\.(?!X11|ICE|cache|npm|config|git)[\w. -]+/.test(path),
      ),
    hits: ['mkdir /var/tmp/.hidden', 'cp a /dev/shm/.x', 'touch "/tmp/. "'],
    misses: ['mkdir -p /tmp/work', 'mkdir -p /tmp/.cache/pip', 'touch ~/.hidden', 'mkdir .tmp'],
  },
];

const PROFILE =
  /(?:\.mozilla\/(?:firefox|thunderbird)|Mozilla\/Firefox\/Profiles|Firefox\/Profiles\/|(?:Google\/Chrome|Chromium|BraveSoftware\/Brave-Browser|Microsoft\/Edge|Vivaldi)\/(?:User Data|Default|Profile)|\.config\/(?:google-chrome|chromium|BraveSoftware|microsoft-edge|vivaldi)(?:\/|$)|Opera Software\/Opera|Safari\/(?:History\.db|Bookmarks\.plist|LastSession)|Messages\/chat\.db|Library\/(?:Mail\/V\d|Calendars|Application Support\/AddressBook)|places\.sqlite|Thunderbird\/Profiles|Microsoft\/Outlook\/[^/]{0,80}\.(?:pst|ost)|\.(?:pst|ost)$|Signal\/(?:sql|config\.json)|Telegram Desktop\/tdata|discord\/Local Storage|Exodus\/exodus\.wallet|Electrum\/wallets|Atomic\/Local Storage|nkbihfbeogaeaoehlefnkodbefgpgknn)/i;

const HOME =
  /^(?:\/|~\/?|\$HOME\/?|\/(?:home|Users|root|mnt|media|Volumes)(?:\/.*)?|\$\(\).*|[a-z]:\\?(?:users\b.*)?|\$env:userprofile.*|%userprofile%.*)$/i;
const DOCUMENT = /\.(?:docx?|xlsx?|pptx?|pdf|rtf|odt|ods|csv|pst|eml|msg)\b/gi;
/** Patterns of mail and IP addresses in a search. */
const ADDRESS_PATTERN = /\][+*]@|25\[0-5\]|\\d\{1,3\}\\?\.|\[0-9\]\{1,3\}\\?\./;

function searchesHome(command: Command): boolean {
  const text = joinWords(command);
  const isRecursive = /^(?:find|rg)$/.test(command.name) || / -\w*[rR]\w* | -recurse\b| \/s /i.test(text);
  const isWithinFind = command.within.includes('find');
  if (/grep$|^rg$/.test(command.name) && ADDRESS_PATTERN.test(text))
    return isWithinFind || (isRecursive && listOperands(command).some((word) => HOME.test(word)));
  if (!isRecursive || !command.words.some(({ text: word }) => HOME.test(word))) return false;
  return new Set((text.match(DOCUMENT) ?? []).map((kind) => kind.toLowerCase())).size >= 3;
}

/** Returns the words of a command, without the pattern of a search in the content of files. */
function getSearchedWords({ name, words }: Command): readonly string[] {
  const texts = words.map(({ text }) => text);
  if (!/^(?:grep|select-string)$/.test(name)) return texts;
  const patternAt = texts.findIndex((text) => !text.startsWith('-'));
  return texts.filter((_, at) => at !== patternAt);
}

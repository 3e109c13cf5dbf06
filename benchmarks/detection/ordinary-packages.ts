/**
 * Published packages of five registries, each by its exact version, and the programs that fetch them. They stand for
 * the files that a coding agent reads and writes on an ordinary day: sources, documents, lock, CI and data files.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';

export type Registry = 'npm' | 'pypi' | 'go' | 'crates' | 'maven';

export interface FetchedPackage {
  readonly name: string;
  readonly registry: Registry;
  readonly folder: string;
  /** True for projects whose subject is language models: their names and ids look like keys. */
  readonly is_llm: boolean;
  /** True for the half that is held back: its findings are unknown to the authors of detectors. */
  readonly is_held: boolean;
}

const LLM: Readonly<Record<Registry, string>> = {
  npm: '@anthropic-ai/sdk@0.60.0 ai@5.0.30 langchain@0.3.31 openai@5.12.2 @langchain/community@0.3.20',
  pypi:
    'litellm==1.55.10 langchain==0.3.13 langchain-community==0.3.13 openai==1.58.1 anthropic==0.42.0 ' +
    'llama-index-core==0.12.8 crewai==0.86.0 haystack-ai==2.8.0 instructor==1.7.0 pyautogen==0.3.2 dspy==2.5.43',
  go: 'github.com/tmc/langchaingo@v0.1.12 github.com/ollama/ollama@v0.5.4 github.com/sashabaranov/go-openai@v1.36.1',
  crates: 'async-openai@0.26.0 rig-core@0.6.0',
  maven: 'dev.langchain4j:langchain4j-core:0.36.2 dev.langchain4j:langchain4j-open-ai:0.36.2',
};

const OTHER: Readonly<Record<Registry, string>> = {
  npm:
    'express@4.21.2 fastify@5.2.0 hono@4.9.6 vite@6.0.7 webpack@5.97.1 eslint@9.17.0 next@15.1.3 axios@1.7.9 ' +
    'prisma@6.1.0 npm@10.9.2 pm2@5.4.3 serverless@3.40.0 typeorm@0.3.20 react-native@0.76.5 typescript@5.7.2 ' +
    'firebase@11.1.0 rxjs@7.8.1 @mui/material@6.3.0 three@0.171.0 mongoose@8.9.2 sequelize@6.37.5 knex@3.1.0 ' +
    'stripe@17.5.0 twilio@5.4.0 socket.io@4.8.1 better-sqlite3@11.7.0 node-forge@1.3.1 @capacitor/android@6.2.0 ' +
    '@capacitor/ios@6.2.0 drizzle-orm@0.38.3 zod@3.24.1 jsonwebtoken@9.0.2 passport@0.7.0 nodemailer@6.9.16 ' +
    'puppeteer-core@23.11.1 aws-sdk@2.1692.0 swagger-ui-dist@5.18.2 grpc-tools@1.12.4 realm@12.13.1',
  pypi:
    'django==5.1.4 flask==3.1.0 celery==5.4.0 scrapy==2.12.0 gunicorn==23.0.0 ansible-core==2.18.1 ' +
    'sqlalchemy==2.0.36 requests==2.32.3 botocore==1.35.90 twisted==24.11.0 paramiko==3.5.0 pytest==8.3.4 ' +
    'sphinx==8.1.3 mypy==1.14.0 faker==33.1.0 sympy==1.13.3 tornado==6.4.2 aiohttp==3.11.11 fastapi==0.115.6 ' +
    'pydantic==2.10.4 jupyterlab==4.3.4 pip==24.3.1 fonttools==4.55.3 networkx==3.4.2 ansible==10.7.0',
  go:
    'github.com/prometheus/prometheus@v0.300.1 k8s.io/kubernetes@v1.31.4 github.com/hashicorp/consul@v1.20.1 ' +
    'github.com/hashicorp/vault@v1.18.3 github.com/hashicorp/terraform@v1.10.3 github.com/hashicorp/nomad@v1.9.4 ' +
    'github.com/docker/docker@v27.4.1+incompatible github.com/docker/compose/v2@v2.32.1 ' +
    'github.com/traefik/traefik/v3@v3.2.3 github.com/caddyserver/caddy/v2@v2.8.4 ' +
    'github.com/gohugoio/hugo@v0.140.1 github.com/gin-gonic/gin@v1.10.0 ' +
    'github.com/grafana/loki/v3@v3.3.2 github.com/argoproj/argo-cd/v2@v2.13.2 helm.sh/helm/v3@v3.16.4 ' +
    'github.com/aws/aws-sdk-go@v1.55.5 github.com/cilium/cilium@v1.16.5 ' +
    'github.com/containerd/containerd/v2@v2.0.1 github.com/rclone/rclone@v1.68.2 github.com/restic/restic@v0.17.3 ' +
    'github.com/syncthing/syncthing@v1.28.1 github.com/pocketbase/pocketbase@v0.23.12 ' +
    'github.com/weaviate/weaviate@v1.28.2 github.com/open-policy-agent/opa@v1.0.0 ' +
    'github.com/goreleaser/goreleaser/v2@v2.5.0 github.com/influxdata/telegraf@v1.33.0 ' +
    'github.com/nats-io/nats-server/v2@v2.10.24 github.com/dapr/dapr@v1.14.4 github.com/spf13/cobra@v1.8.1 ' +
    '' +
    'github.com/ory/kratos@v1.3.1 github.com/golang-migrate/migrate/v4@v4.18.1 github.com/pulumi/pulumi/pkg/v3@v3.143.0',
  crates:
    'tokio@1.42.0 serde_json@1.0.134 clap@4.5.23 hyper@1.5.2 axum@0.7.9 reqwest@0.12.11 diesel@2.2.6 sqlx@0.8.2 ' +
    'rustls@0.23.20 regex@1.11.1 rand@0.8.5 ripgrep@14.1.1 actix-web@4.9.0 rocket@0.5.1 nix@0.29.0 git2@0.19.0 ' +
    'libz-sys@1.1.20 ring@0.17.8 chrono@0.4.39 cargo@0.84.0 bindgen@0.71.1',
  maven:
    'org.springframework:spring-core:6.2.1 org.springframework:spring-web:6.2.1 ' +
    'org.springframework.security:spring-security-web:6.4.2 com.google.guava:guava:33.4.0-jre ' +
    'com.fasterxml.jackson.core:jackson-databind:2.18.2 org.hibernate.orm:hibernate-core:6.6.4.Final ' +
    'org.apache.kafka:kafka-clients:3.9.0 io.netty:netty-handler:4.1.116.Final com.squareup.okhttp3:okhttp:4.12.0 ' +
    'org.jetbrains.kotlin:kotlin-stdlib:2.1.0 org.scala-lang:scala-library:2.13.15 ' +
    'org.apache.spark:spark-core_2.13:3.5.4 org.elasticsearch:elasticsearch:8.17.0 ' +
    'org.keycloak:keycloak-services:26.0.7 io.ktor:ktor-server-core-jvm:3.0.3 com.typesafe.akka:akka-actor_2.13:2.8.8',
};

/** The folder of the fetched packages, outside the tree. */
const CACHE = process.env.ORDINARY_CACHE ?? join(tmpdir(), 'ordinary-packages');

/** Fetches the packages that are not in the cache. A package that cannot be fetched is named and left out. */
export function fetchPackages(
  registries: readonly Registry[] = ['npm', 'pypi', 'go', 'crates', 'maven'],
): readonly FetchedPackage[] {
  mkdirSync(CACHE, { recursive: true });
  const fetched: FetchedPackage[] = [];
  for (const [names, isLlm] of [
    [LLM, true],
    [OTHER, false],
  ] as const)
    for (const registry of registries)
      for (const name of names[registry].split(' ')) {
        const folder = join(CACHE, `${registry}-${name.replaceAll(/[^\w.+-]+/g, '_')}`);
        if (fetchPackage(registry, name, folder))
          fetched.push({ name, registry, folder, is_llm: isLlm, is_held: isHeld(name) });
      }
  return fetched;
}

/** Returns whether a package is held back, by a hash of its name without the version. */
function isHeld(name: string): boolean {
  const bare = name.replace(/(?<=.)(?:@|==|:[\d]).*$/, '');
  return createHash('sha256').update(bare).digest()[0]! % 2 === 1;
}

function fetchPackage(registry: Registry, name: string, folder: string): boolean {
  if (existsSync(folder)) return true;
  const failed = `${folder}.failed`;
  if (existsSync(failed)) return false;
  const scratch = `${folder}.part`;
  rmSync(scratch, { recursive: true, force: true });
  mkdirSync(scratch, { recursive: true });
  try {
    FETCH[registry](name, scratch);
    renameSync(scratch, folder);
    return true;
  } catch (error) {
    writeFileSync(failed, String(error));
    console.error(`${name} was not fetched: ${String(error).split('\n')[0]}`);
    return false;
  }
}

function run(program: string, args: readonly string[], cwd: string): string {
  return execFileSync(program, [...args], { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

/** Unpacks the only archive of a folder, and removes it. */
function unpack(folder: string): void {
  const archive = readdirSync(folder).find((file) => /\.(?:tgz|tar\.gz|zip|whl|jar)$/.test(file));
  if (archive === undefined) throw new Error('the registry has no archive of that version');
  if (/gz$/.test(archive)) run('tar', ['xzf', archive], folder);
  else run('unzip', ['-q', '-o', archive], folder);
  rmSync(join(folder, archive));
}

const FETCH: Readonly<Record<Registry, (name: string, folder: string) => void>> = {
  npm: (name, folder) => {
    run('npm', ['pack', '--silent', name], folder);
    unpack(folder);
  },
  pypi: (name, folder) => {
    // Only the package itself: its build requirements would be compiled for minutes.
    const download = (form: string) =>
      run('pip', ['download', '-q', '--no-deps', form, name.replace(/==.*/, ''), name], folder);
    try {
      download('--no-binary');
    } catch {
      download('--only-binary');
    }
    unpack(folder);
  },
  go: (name, folder) => {
    const { Dir } = JSON.parse(run('go', ['mod', 'download', '-json', name], homedir())) as { Dir: string };
    run('cp', ['-r', '--no-preserve=mode', Dir, join(folder, 'module')], folder);
  },
  crates: (name, folder) => {
    const [crate, version] = name.split('@');
    mkdirSync(join(folder, 'src'));
    writeFileSync(join(folder, 'src/lib.rs'), '');
    writeFileSync(
      join(folder, 'Cargo.toml'),
      `[package]\nname = "ordinary"\nversion = "0.0.0"\nedition = "2021"\n[dependencies]\n${crate} = "=${version}"\n`,
    );
    run('cargo', ['vendor', '--versioned-dirs', 'vendor'], folder);
    run('mv', [`vendor/${crate}-${version}`, 'crate'], folder);
    for (const each of ['vendor', 'src', 'Cargo.toml', 'Cargo.lock'])
      rmSync(join(folder, each), { recursive: true, force: true });
  },
  maven: (name, folder) => {
    const artifact = `-Dartifact=${name}:jar:sources`;
    run(
      'mvn',
      ['-q', '-B', 'dependency:copy', artifact, '-DoutputDirectory=.', '-Dmdep.useBaseVersion=true'],
      folder,
    );
    unpack(folder);
  },
};

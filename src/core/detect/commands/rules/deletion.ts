import { hasFlag, isHarmlessCall, joinWords, listOperands, parseArguments } from '../../shell/options.ts';
import type { Command } from '../../shell/syntax.ts';
import { gradeDestruction, gradeWhole } from '../grade-command.ts';
import { gradeHttpDelete, isRoutineDeletion } from '../grade-routine.ts';
import type { CommandRule } from './rule.ts';

/**
 * Rules for command lines of services, which have verbs: `aws ec2 terminate-instances`, `kubectl delete
 * namespace`, `vault secrets disable`. They share one grammar: an early word that is a verb of deletion. The
 * tables list the known programs and the kind of thing on which they act. For other programs, only the
 * plainest verbs count.
 */
const VERB =
  /^(?:batch-|bulk-|force-|admin-)?(?:delete|destroy|terminate|purge|deregister|uninstall|revoke|wipe|erase|obliterate|nuke)(?:[-_:][\w:-]*)?$|^[\w-]+[-_:](?:delete|destroy|purge|remove|drop|reset)$/;

interface Family {
  readonly tag: CommandRule['tag'];
  readonly programs: string;
  readonly soft: RegExp;
}

/** The softer verbs that lose something, per program. Most CLIs of services share them. */
const FAMILIES: readonly Family[] = [
  {
    tag: 'dangerous.cloud',
    programs: 'aws',
    soft: /^(?:rm|rb|remove-\w[\w-]*|unsubscribe|put-secret-value|update-secret|stop-(?!query)[\w-]+|disable-[\w-]+|change-resource-record-sets|create-invalidation|detach-[\w-]+|cancel-[\w-]+|restore-[\w-]+-from[\w-]*|reset-[\w-]+|release-address|schedule-key-deletion|put-bucket-(?:policy|acl)|modify-db-instance|abort-[\w-]+)$/,
  },
  {
    tag: 'dangerous.cloud',
    programs:
      'gcloud gsutil az azcopy doctl linode-cli oci ibmcloud scw hcloud vultr flyctl fly heroku vercel netlify render railway aliyun exo s3cmd s5cmd b2 mc rclone eksctl eb sam sls serverless cdk copilot amplify pulumi-cloud ncloud bosh cf openstack nova databricks snow',
    soft: /^(?:rm|rb|remove|del|delete-batch|apps:destroy|pg:reset|move|cleanup|rmdir|rmdirs|deletefile|destroy|rotate|disable|mb\/rb|nuke|reset|scale-down)$/,
  },
  {
    tag: 'dangerous.kubernetes',
    programs:
      'kubectl oc k3s k9s helm kustomize istioctl velero argocd flux linkerd kubeadm kops rancher eksctl minikube kind k3d calicoctl',
    soft: /^(?:drain|cordon|reset|uninstall|rollback|undeploy|prune)$/,
  },
  {
    tag: 'dangerous.container',
    programs:
      'docker podman nerdctl docker-compose crictl buildah lxc incus vagrant virsh multipass ctr skopeo',
    soft: /^(?:prune|kill|undefine)$/,
  },
  {
    tag: 'dangerous.infrastructure',
    programs:
      'terraform tofu terragrunt pulumi cdktf packer ansible-galaxy vault consul nomad doppler op bw chamber sops infisical boundary waypoint crossplane nixops salt puppet chef knife',
    soft: /^(?:disable|taint|force-unlock|rm|remove|forget|undo|reset|unseal|seal|stop|step-down|rekey)$/,
  },
  {
    tag: 'dangerous.infrastructure',
    programs:
      'wrangler fastly gh glab circleci jenkins-cli gitlab-runner gitlab-rake buildkite-agent drone tkn argo launchctl-cloud ldcli split unleash flipt stripe square braintree paypal pd newrelic datadog-ci grafana-cli sentry-cli splunk algolia meilisearch ngrok cloudflared deck kong apigeecli apigee rabbitmqctl rabbitmqadmin rabbitmq-plugins nats nsc rpk kafka-topics pulsar-admin borg restic duplicity kopia bacula sanoid nsupdate firebase supabase hasura contentful twilio sendgrid mailgun postmark auth0 okta planetscale pscale neonctl turso convex elasticdump curator mlflow wandb huggingface-cli dvc npm-cli flagsmith statsig posthog configcat growthbook optimizely confluent zk zkcli etcdctl traefik haproxy caddy nginx-ctl',
    soft: /^(?:rm|rb|del|remove|remove-[\w-]+|disable|reset|prune|clear|clean|forget|rollback|archive|kill|activate|drop|recreate|unregister|rdelete|repo-delete|force_reset|stop_app|gitlab:backup:restore|move|sync|cancel|void|refund|deactivate|evict|suspend|stop|flush|undeploy|deprecate)$/,
  },
];

const FAMILY_OF = new Map(
  FAMILIES.flatMap((family) => family.programs.split(' ').map((name) => [name, family] as const)),
);

/**
 * Programs whose arguments are text, files or names, and not verbs; and programs that other rules handle
 * better.
 */
const NO_VERBS = new Set(
  'echo printf print grep egrep fgrep rg ag ack sed awk gawk cat less more head tail tee man tldr help info which whereis type hash test [ [[ jq yq cut tr sort uniq wc diff cmp ls dir cd find fd locate git svn hg npm npx yarn pnpm bun make cmake ninja cargo go pip pip3 poetry pytest tox mvn gradle mkdir touch cp mv ln read set export unset declare local return source exit true false for while case in select function if until date sleep seq basename dirname ssh scp sftp ping dig host nslookup vi vim nano emacs code open write-host write-output say logger wall mail node python python3 ruby perl php bash sh zsh xargs env sudo time apt apt-get yum dnf brew pacman snap systemctl service launchctl net sc reg wmic netsh schtasks rm rmdir del drop delete update truncate alter grant perform transform please to the a i we you it this that don can how what why when do'.split(
    ' ',
  ),
);
const EARLY_WORDS = 5;

/** Returns the first words that are not flags, as far as a verb can be among them. */
function listEarlyWords(command: Command): readonly string[] {
  const words = listOperands(command).slice(0, EARLY_WORDS);
  // The words after it are another command, which is judged by itself.
  const end = words.findIndex((text) => /^(?:run|exec|ssh|shell|exec-env|run-task)$/.test(text));
  return end < 0 ? words : words.slice(0, end);
}

/**
 * Returns whether a command prunes a cache only: `docker image prune` deletes layers without a name, and
 * `docker builder prune` a build cache.
 */
function prunesCaches(command: Command): boolean {
  const [noun = '', verb] = listEarlyWords(command);
  return /^(?:image|builder|buildx)$/.test(noun) && verb === 'prune' && !hasFlag(command, '-a', '--all');
}

function isVerbal(text: string): boolean {
  return /^[a-z][\w:.-]{1,60}$/.test(text);
}

function deletesResources(command: Command, family: Family): boolean {
  if (isHarmlessCall(command) || listEarlyWords(command).includes('help') || prunesCaches(command))
    return false;
  const words = listEarlyWords(command).filter(isVerbal);
  // This removes a plug-in of the program itself.
  if (/^(?:serverless|sls)$/.test(command.name) && words[0] === 'plugin') return false;
  return (
    words.some((text) => VERB.test(text)) ||
    words.some((text) => family.soft.test(text) && isBefore(command, text))
  );
}

/** Returns whether only words precede a softer verb: `mc rm bucket`, but not `mc ls a rm`. */
function isBefore(command: Command, verb: string): boolean {
  const at = listOperands(command).indexOf(verb);
  return at < 3 && listOperands(command).slice(0, at).every(isVerbal);
}

function buildDeletionRule(
  family: Family,
  id: string,
  rest: Omit<CommandRule, 'id' | 'tag' | 'programs' | 'saw' | 'severity'>,
): CommandRule {
  return {
    id,
    tag: family.tag,
    severity: 'high',
    grade: (command) => (isRoutineDeletion(command) ? 'low' : gradeDestruction(command)),
    programs: family.programs,
    saw: (command) => FAMILY_OF.has(command.name) && deletesResources(command, family),
    ...rest,
  };
}

export const deletionRules: readonly CommandRule[] = [
  buildDeletionRule(FAMILIES[0]!, 'cloud.aws_delete', {
    description: 'Deletes, stops or overwrites something of an Amazon account.',
    safer: 'aws ec2 describe-instances',
    hits: [
      'aws ec2 terminate-instances --instance-ids i-1',
      'aws s3 rb s3://x --force',
      'aws --profile p sqs purge-queue --queue-url q',
    ],
    misses: [
      'aws s3 ls',
      'aws ec2 describe-instances',
      'aws s3 cp a s3://b/',
      'aws apigateway delete-model help',
    ],
  }),
  buildDeletionRule(FAMILIES[1]!, 'cloud.delete', {
    description: 'Deletes something of a cloud account or a remote store.',
    safer: 'gcloud compute instances list',
    hits: [
      'gcloud projects delete p',
      'az group delete -n rg',
      'gsutil -m rm -r gs://b',
      'heroku apps:destroy x',
      'rclone purge remote:x',
    ],
    misses: [
      'gcloud config list',
      'az account show',
      'rclone copy a remote:b',
      'az group delete --help',
      'rclone sync a b --dry-run',
    ],
  }),
  buildDeletionRule(FAMILIES[2]!, 'kubernetes.delete', {
    description: 'Deletes something of a cluster, or empties a node.',
    safer: 'kubectl get pods',
    hits: [
      'kubectl delete pod web',
      'helm uninstall web',
      'kubectl drain n1',
      'velero backup delete nightly',
    ],
    misses: [
      'kubectl get pods',
      'kubectl delete --help',
      'kubectl delete pod x --dry-run=client',
      'helm list',
    ],
  }),
  buildDeletionRule(FAMILIES[3]!, 'container.delete', {
    description: 'Deletes containers, images, volumes or machines.',
    safer: 'docker ps',
    hits: ['docker system prune -af', 'docker volume prune', 'vagrant destroy -f', 'docker kill web'],
    misses: ['docker ps', 'docker logs web', 'docker run --rm alpine true', 'docker build .'],
  }),
  buildDeletionRule(FAMILIES[4]!, 'infrastructure.delete', {
    description: 'Destroys infrastructure or removes secrets that others use.',
    safer: 'terraform plan',
    hits: [
      'terraform destroy',
      'pulumi destroy --yes',
      'vault secrets disable kv/',
      'terraform state rm a.b',
      'op item delete x',
    ],
    misses: ['terraform plan', 'terraform fmt', 'vault kv get secret/a', 'op item list'],
  }),
  buildDeletionRule(FAMILIES[5]!, 'infrastructure.service_delete', {
    description: 'Deletes or resets something of a service: a repository, a queue, a backup, a flag.',
    safer: 'gh repo view',
    hits: [
      'gh repo delete a/b --yes',
      'rabbitmqctl delete_vhost /x',
      'restic forget latest',
      'stripe products delete p',
      'wrangler delete w',
    ],
    misses: [
      'gh pr view 12',
      'restic snapshots',
      'stripe products list',
      'borg check repo',
      'glab issue view 4',
    ],
  }),
  {
    id: 'container.delete_forced',
    tag: 'dangerous.container',
    severity: 'high',
    programs: 'docker podman nerdctl docker-compose restic',
    description: 'Deletes containers, images, volumes or locks by force.',
    safer: 'docker ps',
    saw: (command) => {
      const operands = listOperands(command);
      if (command.name === 'restic') return operands[0] === 'unlock' && hasFlag(command, '--remove-all');
      const isRemoval = operands.slice(0, 2).some((text) => /^(?:rm|rmi|remove)$/.test(text));
      // A named container can be created again from its image. A list from a command may name all containers.
      const isContainer = operands[0] === 'rm' || (operands[0] === 'container' && operands[1] === 'rm');
      const isNamed = operands.slice(1).every((text) => /^[\w.-]+$/.test(text));
      if (isContainer && isNamed && !hasFlag(command, '-v', '--volumes')) return false;
      if (operands[0] === 'volume' && isRemoval) return true;
      return (
        (isRemoval && hasFlag(command, '-f', '--force', '-v')) ||
        (operands.slice(0, 2).includes('down') && hasFlag(command, '-v', '--volumes'))
      );
    },
    hits: [
      'docker rm -f $(docker ps -aq)',
      'docker rm -fv web',
      'docker volume rm data',
      'docker rmi --force web',
      'docker compose down -v',
      'docker volume rm -f data',
    ],
    misses: [
      'docker rmi web',
      'docker rm web',
      'docker rm -f web',
      'docker run --rm alpine true',
      'docker compose down',
    ],
  },
  {
    id: 'infrastructure.cluster_whole',
    tag: 'dangerous.kubernetes',
    severity: 'critical',
    grade: gradeWhole,
    programs: 'kubectl oc eksctl kops minikube gcloud az aws terraform tofu pulumi docker',
    description: 'Deletes a whole namespace, cluster, group of resources or stack, or all volumes.',
    safer: 'kubectl get namespaces',
    saw: (command) => {
      const text = joinWords(command);
      if (isHarmlessCall(command)) return false;
      return /^.{0,200} (?:delete (?:namespaces?|ns|cluster|crds?|pvc?|nodes?) |delete .{0,100}--all |container clusters delete |projects delete |group delete |delete-stack |delete-(?:db-)?cluster |destroy .{0,100}(?:-auto-approve|--yes|-y) |apply .{0,100}-destroy |system prune .{0,60}--volumes )/.test(
        text,
      );
    },
    hits: [
      'kubectl delete namespace prod',
      'terraform destroy -auto-approve',
      'kubectl delete pods --all -n prod',
      'docker system prune -af --volumes',
    ],
    misses: [
      'kubectl get namespaces',
      'terraform destroy -help',
      'kubectl delete pod web',
      'kubectl delete ns x --dry-run',
    ],
  },
  {
    id: 'infrastructure.verb',
    tag: 'dangerous.infrastructure',
    severity: 'medium',
    programs: '*',
    description: 'Has a verb of deletion where command lines of services have theirs.',
    safer: 'acmectl zones list',
    saw: (command) => {
      const { name } = command;
      if (
        !/^[a-z][\w.-]{1,40}$/.test(name) ||
        NO_VERBS.has(name) ||
        FAMILY_OF.has(name) ||
        isHarmlessCall(command)
      )
        return false;
      const words = listOperands(command).slice(0, 3);
      const at = words.findIndex((text) => VERB.test(text) || text === 'force_reset');
      return at >= 0 && words.slice(0, at).every(isVerbal);
    },
    hits: ['acmectl zones delete z1', 'some-tool destroy'],
    misses: ['npm run delete', 'tail delete', 'acmectl zones list', 'grep delete x', 'legitimate --delete'],
  },
  {
    id: 'infrastructure.jar_delete',
    tag: 'dangerous.infrastructure',
    severity: 'high',
    programs: 'java',
    description: 'Deletes something of a build server.',
    safer: 'java -jar cli.jar list-jobs',
    saw: (command) =>
      listOperands(command)
        .slice(0, 6)
        .some((text) => /^(?:delete|wipeout|disable|offline|quiet)-[\w-]+$|^(?:safe-)?shutdown$/.test(text)),
    hits: ['java -jar cli.jar -s http://ci/ delete-job web'],
    misses: ['java -jar app.jar', 'java -jar cli.jar list-jobs'],
  },
  {
    id: 'infrastructure.http_delete',
    tag: 'dangerous.infrastructure',
    severity: 'medium',
    grade: gradeHttpDelete,
    programs: 'curl wget http https xh curlie gh glab invoke-restmethod irm invoke-webrequest iwr',
    description: 'Asks a service over HTTP to delete, close or reset something.',
    safer: 'curl https://api.test/v1/items',
    saw: (command) => {
      const words = command.words.map(({ text }) => text);
      const { values } = parseArguments(command);
      const method = (
        values.get('-X') ??
        values.get('--request') ??
        values.get('--method') ??
        values.get('-Method') ??
        ''
      ).toUpperCase();
      if (method === 'DELETE' || words.some((text) => /^-X(?:DELETE|PURGE)$/.test(text) || text === 'DELETE'))
        return true;
      const hasBody =
        method === 'POST' ||
        method === 'PUT' ||
        words.some((text) => text === 'POST' || text === 'PUT' || /^-X(?:POST|PUT)$/.test(text));
      return (
        hasBody &&
        words.some((text) =>
          /^[^?]{0,300}(?:\/(?:_close|_delete_by_query|_cluster\/settings|doDelete|do_?delete|delete[_-][\w-]+|delete|purge|destroy|_forcemerge|_freeze|safeExit|safeRestart)\/?)(?:\?|$|\[)/i.test(
            text,
          ),
        )
      );
    },
    hits: [
      'curl -X DELETE https://api.test/v1/items/1',
      'http DELETE :9200/idx',
      'curl -XDELETE localhost:9200/*',
      'gh api -X DELETE repos/a/b',
      'curl -X POST http://x/job/a/doDelete',
    ],
    misses: ['curl https://api.test/delete-me', 'curl -X GET https://x/y', 'curl -X POST https://x/items'],
  },
  {
    id: 'infrastructure.sync_delete',
    tag: 'dangerous.filesystem',
    severity: 'medium',
    programs: 'rsync aws azcopy rclone gsutil mc robocopy lftp',
    description: 'Deletes at the target what the source does not have.',
    safer: 'rsync -a src/ dest/',
    saw: (command) => {
      const { flags, values } = parseArguments(command);
      if (isHarmlessCall(command) || flags.has('-n')) return false;
      const isDeleting = [...flags].some((flag) =>
        /^--(?:del|delete(?:-\w+)*|remove-source-files|remove)$/.test(flag),
      );
      const isSync = listOperands(command).slice(0, 2).includes('sync') && command.name === 'rclone';
      return (
        (isDeleting && values.get('--delete-destination') !== 'false') ||
        isSync ||
        command.words.some(({ text }) => /^\/mir$/i.test(text))
      );
    },
    hits: ['rsync -a --delete src/ dest/', 'aws s3 sync a s3://b --delete', 'robocopy a b /MIR'],
    misses: ['rsync -a src/ dest/', 'rsync -an --delete a b', 'aws s3 sync a s3://b'],
  },
  {
    id: 'infrastructure.queue_delete',
    tag: 'dangerous.infrastructure',
    severity: 'high',
    programs:
      'kafka-topics kafka-topics.sh kafka-consumer-groups kafka-consumer-groups.sh kafka-acls kafka-acls.sh kafka-delete-records kafka-delete-records.sh kafka-configs kafka-streams-application-reset zookeeper-shell',
    description: 'Deletes topics, groups, offsets or records of a queue.',
    safer: 'kafka-topics --describe',
    saw: (command) =>
      !isHarmlessCall(command) &&
      (/delete-records|application-reset/.test(command.name) ||
        [...parseArguments(command).flags].some((flag) =>
          /^--(?:delete|remove|reset-offsets|delete-offsets|delete-config)$/.test(flag),
        )),
    hits: [
      'kafka-topics --bootstrap-server b --delete --topic t',
      'kafka-delete-records --offset-json-file f',
    ],
    misses: ['kafka-topics --list', 'kafka-consumer-groups --describe'],
  },
];

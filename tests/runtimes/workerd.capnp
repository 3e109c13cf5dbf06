using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "main", worker = .guarded),
    (name = "internet", network = (allow = ["private", "local", "public"])),
  ],
);

const guarded :Workerd.Worker = (
  modules = [
    (name = "worker", esModule = embed "worker.mjs"),
    (name = "sdk.mjs", esModule = embed "sdk.mjs"),
  ],
  bindings = [(name = "SERVICE_URL", fromEnvironment = "SERVICE_URL")],
  compatibilityDate = "2026-01-01",
);

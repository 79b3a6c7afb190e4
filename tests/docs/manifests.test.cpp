// The manifests of python/kevo_ray/deploy are YAML with fields that KubeRay and Kubernetes have, of the right
// kinds, and agree with each other and with the package; the script for Slurm is one that bash reads.

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include <doctest/doctest.h>

#include "src/base/settings/yaml.hpp"
#include "tests/support/shell.hpp"

namespace {

using kevo::settings_node;

const std::string deploy = KEVO_SOURCE_DIR "/python/kevo_ray/deploy/";

/// What a field may hold: "text", "integer", "boolean", "any", "texts" (a map of texts), a type of the table
/// below, or a list of that type ("[pod]").
using fields = std::map<std::string, std::string>;

/// KubeRay's types RayServiceSpec, RayClusterSpec, ... (ray.io/v1) and what is used of Kubernetes' own.
const std::map<std::string, fields>& types() {
  static const std::map<std::string, fields> all = {
      {"RayService",
       {{"apiVersion", "text"}, {"kind", "text"}, {"metadata", "meta"}, {"spec", "RayServiceSpec"}}},
      {"RayServiceSpec",
       {{"serveConfigV2", "text"},
        {"rayClusterConfig", "RayClusterSpec"},
        {"serveService", "any"},
        {"upgradeStrategy", "any"},
        {"excludeHeadPodFromServeSvc", "boolean"}}},
      {"RayClusterSpec",
       {{"suspend", "boolean"},
        {"managedBy", "text"},
        {"autoscalerOptions", "any"},
        {"headServiceAnnotations", "texts"},
        {"enableInTreeAutoscaling", "boolean"},
        {"gcsFaultToleranceOptions", "any"},
        {"headGroupSpec", "HeadGroupSpec"},
        {"rayVersion", "text"},
        {"workerGroupSpecs", "[WorkerGroupSpec]"}}},
      {"HeadGroupSpec",
       {{"template", "pod"},
        {"headService", "any"},
        {"enableIngress", "boolean"},
        {"rayStartParams", "texts"},
        {"serviceType", "text"}}},
      {"WorkerGroupSpec",
       {{"suspend", "boolean"},
        {"groupName", "text"},
        {"replicas", "integer"},
        {"minReplicas", "integer"},
        {"maxReplicas", "integer"},
        {"idleTimeoutSeconds", "integer"},
        {"rayStartParams", "texts"},
        {"template", "pod"},
        {"scaleStrategy", "any"},
        {"numOfHosts", "integer"}}},
      {"List", {{"apiVersion", "text"}, {"kind", "text"}, {"items", "any"}}},
      {"PersistentVolumeClaim",
       {{"apiVersion", "text"}, {"kind", "text"}, {"metadata", "meta"}, {"spec", "claim"}}},
      {"claim", {{"accessModes", "any"}, {"resources", "resources"}, {"storageClassName", "text"}}},
      {"Deployment",
       {{"apiVersion", "text"}, {"kind", "text"}, {"metadata", "meta"}, {"spec", "deployment"}}},
      {"deployment",
       {{"replicas", "integer"}, {"strategy", "any"}, {"selector", "any"}, {"template", "pod"}}},
      {"Service", {{"apiVersion", "text"}, {"kind", "text"}, {"metadata", "meta"}, {"spec", "service"}}},
      {"service", {{"selector", "texts"}, {"ports", "any"}, {"type", "text"}}},
      {"meta", {{"name", "text"}, {"namespace", "text"}, {"labels", "texts"}, {"annotations", "texts"}}},
      {"pod", {{"metadata", "meta"}, {"spec", "pod_spec"}}},
      {"pod_spec",
       {{"containers", "[container]"},
        {"volumes", "[volume]"},
        {"nodeSelector", "texts"},
        {"tolerations", "any"}}},
      {"container",
       {{"name", "text"},
        {"image", "text"},
        {"command", "any"},
        {"ports", "[port]"},
        {"env", "any"},
        {"resources", "resources"},
        {"readinessProbe", "any"},
        {"securityContext", "any"},
        {"volumeMounts", "[mount]"}}},
      {"port", {{"containerPort", "integer"}, {"name", "text"}}},
      {"mount", {{"name", "text"}, {"mountPath", "text"}, {"readOnly", "boolean"}}},
      {"volume",
       {{"name", "text"}, {"configMap", "any"}, {"secret", "any"}, {"persistentVolumeClaim", "any"}}},
      {"resources", {{"requests", "texts"}, {"limits", "texts"}}},
      {"ServeConfig",
       {{"proxy_location", "text"}, {"http_options", "any"}, {"applications", "[application]"}}},
      {"application", {{"name", "text"}, {"route_prefix", "text"}, {"import_path", "text"}, {"args", "any"}}},
  };
  return all;
}

void check(const settings_node& node, const std::string& type) {
  using kind = settings_node::kind;
  const std::string where = node.place.file + ", " + node.place.key + " (" + describe(node) + ")";
  if (type == "any") return;
  static const std::map<std::string, kind> scalars = {
      {"text", kind::text}, {"integer", kind::integer}, {"boolean", kind::boolean}};
  if (const auto scalar = scalars.find(type); scalar != scalars.end()) {
    CHECK_MESSAGE(node.type == scalar->second, where);
    return;
  }
  if (type.front() == '[') {
    REQUIRE_MESSAGE(node.is_list(), where);
    for (const auto& one : node.items) check(one, type.substr(1, type.size() - 2));
    return;
  }
  REQUIRE_MESSAGE(node.is_map(), where);
  for (const auto& entry : node.entries) {
    if (type == "texts") {
      check(entry.value, "text");
      continue;
    }
    const auto& known = types().at(type);
    const auto found = known.find(entry.key);
    REQUIRE_MESSAGE(found != known.end(), type << " has no field " << entry.key << ": " << where);
    check(entry.value, found->second);
  }
}

const settings_node& at(const settings_node& node, const std::string& path) {
  const settings_node* now = &node;
  std::istringstream parts(path);
  for (std::string part; std::getline(parts, part, '.');) {
    now = now->is_list() ? &now->items.at(std::stoul(part)) : now->find(part);
    REQUIRE_MESSAGE(now != nullptr, part << " of " << path);
  }
  return *now;
}

/// The settings of the package, in the order of its file.
std::set<std::string> settings_of_package() {
  std::istringstream lines(shell::read_file(KEVO_SOURCE_DIR "/python/kevo_ray/kevo_ray/settings.py"));
  std::set<std::string> found;
  for (std::string line; std::getline(lines, line);) {
    const auto colon = line.find(": ");
    if (line.starts_with("    ") && colon != std::string::npos && line.find("= Field(") != std::string::npos)
      found.insert(line.substr(4, colon - 4));
  }
  return found;
}

}  // namespace

TEST_CASE("the RayService has the fields of KubeRay, and its Serve config the settings of the package") {
  const auto service = kevo::load_yaml(deploy + "rayservice.yaml");
  check(service, "RayService");
  CHECK(at(service, "apiVersion").text == "ray.io/v1");
  CHECK(at(service, "kind").text == "RayService");
  const auto serve = kevo::parse_yaml(at(service, "spec.serveConfigV2").text, "serveConfigV2");
  check(serve, "ServeConfig");
  CHECK(at(serve, "applications.0.import_path").text == "kevo_ray:app");
  const auto known = settings_of_package();
  CHECK(known.size() >= 10);
  const auto& settings = at(serve, "applications.0.args");
  for (const auto& one : settings.entries) CHECK_MESSAGE(known.contains(one.key), one.key);
  // A replica fits into a worker, and there may be a worker for each.
  const std::string worker = "spec.rayClusterConfig.workerGroupSpecs.0.";
  const auto& limits = at(service, worker + "template.spec.containers.0.resources.limits");
  CHECK(limits.find("nvidia.com/gpu")->text == at(settings, "gpus").text);
  CHECK(limits.find("cpu")->text == at(settings, "cpus").text);
  CHECK(at(service, worker + "maxReplicas").integer == at(settings, "max_replicas").integer);
}

TEST_CASE("the front's manifest has Kubernetes' fields and names the service of the replicas") {
  const auto front = kevo::load_yaml(deploy + "front.yaml");
  check(front, "List");
  REQUIRE(at(front, "items").items.size() == 3);
  for (const auto& one : at(front, "items").items) check(one, at(one, "kind").text);
  const auto& pod = at(front, "items.1.spec.template.spec");
  const auto& words = at(pod, "containers.0.command").items;
  const auto has = [&](const std::string& text) {
    return std::any_of(words.begin(), words.end(), [&](const auto& word) { return word.text == text; });
  };
  const auto service = kevo::load_yaml(deploy + "rayservice.yaml");
  CHECK(has("http://" + at(service, "metadata.name").text + "-serve-svc:8000"));
  // Each option is one of the program's.
  const auto help = shell::run({KEVO_BINARY_DIR "/kevo", "serve", "--help"});
  for (const auto& word : words) {
    if (word.text.starts_with("--")) CHECK_MESSAGE(help.out.find(word.text) != std::string::npos, word.text);
  }
  for (const auto& mount : at(pod, "containers.0.volumeMounts").items) {
    const auto& volumes = at(pod, "volumes").items;
    CHECK(std::any_of(volumes.begin(), volumes.end(),
                      [&](const auto& one) { return at(one, "name").text == at(mount, "name").text; }));
  }
}

TEST_CASE("bash reads the script for Slurm, which says how it is used") {
  CHECK(shell::run({"/bin/bash", "-n", deploy + "slurm.sh"}).code == 0);
  const auto usage = shell::run({"/bin/bash", deploy + "slurm.sh"});
  CHECK(usage.code == 2);
  CHECK(usage.err.find("sbatch --nodes=3") != std::string::npos);
}

#include <filesystem>
#include <string>
#include <type_traits>
#include <vector>

#include "base/Lists.hpp"
#include "base/files/HubCache.hpp"
#include "config/ChatKeys.hpp"
#include "config/JobLoader.hpp"
#include "config/ProbeFormat.hpp"
#include "config/axes/AxisSource.hpp"
#include "config/yaml/Fields.hpp"

namespace stereosweep::config {
namespace {

void language_key(Fields& keys, std::string& language) {
  if (const Node* node = keys.optional("language")) {
    keys.pieces().set_language(LanguageTable::read(*node, keys.pieces(), keys.problems()));
    language = keys.pieces().language().name();
  }
}

void language_key(auto& keys, const std::string& language) {
  keys.not_raw().unless_default().line("language", language, "of the prompts: a table in configs/languages");
}

/// What stands at the top of every job, in the order of a dump.
void head_keys(auto& job, auto& keys) {
  std::size_t schema = 0;
  keys.needed().choice("schema", schema, {"stereosweep/1"}, "the form of this file");
  keys.needed().not_raw().line("name", job.name, "names the folder of the run");
  language_key(keys, job.language);
  if (!job.draws()) {
    keys.not_raw();
  }
  keys.seed("seed", job.seed, "of everything that is drawn");
}

const Node& default_head() {
  static const Node head = [] {
    ShownKeys keys;
    const sweep::Job job;
    head_keys(job, keys);
    return keys.take();
  }();
  return head;
}

void check_name(const Fields& job, const std::string& name) {
  constexpr std::string_view allowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
  if (name.find_first_not_of(allowed) != std::string::npos || name.front() == '.' || name.front() == '-') {
    job.problems().add(job.place("name"), "'" + name + "' is no name of a job",
                       "it names a folder: letters, digits, '.', '_', '-', not starting with '.' or '-'");
  } else if (name.size() > 150) {
    job.problems().add(job.place("name"), "the text has " + std::to_string(name.size()) + " bytes", "limit: 150");
  }
}

/// "" for a directory, and where the cache of this machine does not hold the name.
std::string cached_commit(const std::string& path) {
  std::error_code ignored;
  const auto wanted = base::parse_hub_name(path);
  if (!wanted || std::filesystem::is_directory(path, ignored)) {
    return "";
  }
  const auto found = base::find_in_hub_cache(*wanted);
  return found ? found->commit : "";
}

/// What a resolved job says of a name is the commit that it stood for; else the cache is asked.
void revision_key(Fields& keys, sweep::ModelSpec& model) {
  const Node* node = keys.optional("revision");
  if (node == nullptr) {
    model.revision = keys.pieces().inline_only() ? "" : cached_commit(model.path);
    return;
  }
  const auto place = node->place("model.revision");
  const auto text = read_line(*node, "model.revision", keys.problems(), 100).value_or("");
  if (!base::is_commit(text)) {
    keys.problems().add(place, "'" + text + "' is no commit", "40 hexadecimal digits are needed",
                        "Write a branch or tag behind the name: path: ORG/NAME@" + (text.empty() ? "REVISION" : text));
  } else if (!model.path.empty() && !base::parse_hub_name(model.path)) {
    keys.problems().add(place, "a revision of '" + model.path + "'",
                        "only a name on the hub, such as org/name, has revisions", "Leave it out.");
  } else {
    model.revision = text;
  }
}

void revision_key(auto& keys, const sweep::ModelSpec& model) {
  keys.not_raw().line("revision", model.revision, "the commit of a name on the hub");
}

/// Reports those of the keys that are given. `problem`: "" for keys of the other way to name a model.
void refuse_keys(Fields& keys, std::initializer_list<const char*> names, const std::string& problem,
                 const std::string& reason, const std::string& suggestion) {
  for (const auto* name : names) {
    if (const Node* node = keys.optional(name)) {
      const auto key = keys.key_of(name);
      keys.problems().add(node->place(key), problem.empty() ? key + " says nothing here" : problem, reason, suggestion);
    }
  }
}

/// `format`: null where the probe is not known.
template <class Model, class Keys>
void chat_keys_of(Model& model, Keys& keys, const ProbeFormat* format) {
  const auto use = format == nullptr ? ChatUse::plain_unless_said : format->defaults().chat;
  if (use != ChatUse::refused) {
    chat_keys(keys, model, use == ChatUse::from_checkpoint);
    return;
  }
  if constexpr (std::is_same_v<Keys, Fields>) {
    refuse_keys(keys, {"chat", "chat_name", "date", "thinking", "system"},
                "the probe '" + std::string(format->name()) + "' takes no chat template",
                "its prompts are sentences, not conversations", "");
  }
}

constexpr const char* about_path = "a folder with a checkpoint, a GGUF file, or a name on the hub: ORG/NAME@REVISION";

/// In the order of a dump: what is said of a checkpoint beside its path.
void keys_behind_path(auto& model, auto& keys, const ProbeFormat* format) {
  revision_key(keys, model);
  keys.not_raw().unless_default().path("adapter", model.adapter,
                                       "a folder with an adapter of the model, as PEFT saves it");
  keys.choice("dtype", model.dtype, query::dtype_names);
  chat_keys_of(model, keys, format);
}

void checkpoint_keys(auto& model, auto& keys, const ProbeFormat* format) {
  keys.needed().not_raw().alone().path("path", model.path, about_path);
  keys_behind_path(model, keys, format);
}

/// A conversation is written by the server, a text by the job: by the template that it names, or as it is.
void server_chat_key(Fields& keys, sweep::ModelSpec& model, const ProbeFormat* format) {
  if (model.server->interface == sweep::Server::Interface::completions) {
    chat_keys_of(model, keys, format);
    return;
  }
  refuse_keys(keys, {"chat", "chat_name", "date", "thinking"}, "a chat template beside model.interface: chat",
              "the server writes conversations by its own", "Leave it out, or set model.interface: completions.");
  keys.text("system", model.system);
}
void server_chat_key(ShownKeys& keys, const sweep::ModelSpec& model, const ProbeFormat* format) {
  if (model.server->interface == sweep::Server::Interface::completions) {
    chat_keys_of(model, keys, format);
  } else if (model.system != "default") {
    keys.text("system", model.system);
  }
}

/// A description is of both forms, which share keys.
void model_keys(const sweep::ModelSpec& model, ShownKeys& keys, const ProbeFormat* format) {
  if (keys.describes()) {
    keys.alone().path("path", model.path, about_path);
    keys_behind_path(model, keys, format);
    const sweep::Server usual;
    sweep::Server::each_key(usual, keys);
  } else if (model.server) {
    sweep::Server::each_key(*model.server, keys);
    server_chat_key(keys, model, format);
  } else {
    checkpoint_keys(model, keys, format);
  }
}

void model_keys(sweep::ModelSpec& model, Fields& keys, const ProbeFormat* format) {
  if (keys.optional("server") == nullptr) {
    checkpoint_keys(model, keys, format);
    refuse_keys(keys, {"name", "interface", "requests", "price"}, "", "only a server (model.server) is asked so",
                "Leave it out.");
    return;
  }
  refuse_keys(keys, {"path", "revision", "dtype"}, "", "a server answers (model.server), and no checkpoint is read",
              "Leave it out.");
  sweep::Server::each_key(model.server.emplace(), keys);
  while (model.server->url.ends_with('/')) {
    model.server->url.pop_back();
  }
  server_chat_key(keys, model, format);
  for (const auto& fault : model.server->faults()) {
    keys.report(fault);
  }
}

/// What the job says, whatever else is wrong with it.
query::Device said_device(const Node& root) {
  const Node* execution = root.find("execution");
  const Node* device = execution == nullptr || execution->kind != Node::Kind::map ? nullptr : execution->find("device");
  return device != nullptr && device->value == "cuda" ? query::Device::cuda : query::Device::automatic;
}

/// Every job needs a model, but one that reads its vectors from a file.
void check_model(Fields& fields, const Node* model, const sweep::Job& job, base::Problems& problems) {
  if (job.needs_model()) {
    fields.required("model");
  } else if (model != nullptr) {
    problems.add(model->place("model"), "a model beside a file of vectors", "nothing would be asked of it",
                 "Leave 'model' out, or 'vectors.file'.");
  }
}

/// What computes a checkpoint's numbers says nothing of a server's.
void check_server(Fields& fields, const sweep::Job& job, const ProbeFormat& format) {
  auto faults = format.server_faults(job);
  if (job.execution.engine == query::EngineKind::fake) {
    faults.push_back({"execution", "execution.engine: fake beside model.server", "the server would not be asked", ""});
  }
  if (job.execution.tensor_parallel != 1) {
    faults.push_back({"execution", "execution.tensor_parallel beside model.server",
                      "there is no model to cut into slices", "Leave it out."});
  }
  for (const auto& fault : faults) {
    fields.report(fault);
  }
}

/// `statistics`: null where names cannot be held against those of the job.
void check_whole(const Node& file, const sweep::Job& job, const ProbeFormat& format, const JobCheck& check,
                 const Node* statistics, base::Problems& problems) {
  for (const auto& fault : statistics == nullptr ? std::vector<sweep::KeyFault>() : format.statistics_faults(job)) {
    const std::string key = statistics->find(fault.key) == nullptr ? "human_ratings" : fault.key;  // the older key
    const Node* node = statistics->find(key);
    auto place = (node == nullptr ? statistics : node)->place("statistics." + key);
    place.key = fault.problem.starts_with("statistics.") ? "" : place.key;
    problems.add(place, fault.problem, "");
  }
  const Node* model = file.find("model");
  const Node* path = model != nullptr && model->kind == Node::Kind::map ? model->find("path") : model;
  if (path == nullptr || job.model.path.empty()) {
    return;
  }
  for (const auto& fault : check(job)) {
    problems.add(path->place(path == model ? "model" : "model.path"), fault, "");
  }
}

/// Nothing (reported) where the name is missing or unknown.
const ProbeFormat* read_probe(Fields& fields, base::Problems& problems) {
  const auto names = base::mapped(probe_formats(), [](const auto* format) { return std::string(format->name()); });
  const Node* node = fields.required("probe");
  const auto index = node == nullptr ? std::nullopt : read_choice(*node, "probe", problems, names);
  return index ? probe_formats()[*index] : nullptr;
}

/// What they hold cannot be judged where the probe is not known.
void pass_over_probe_keys(Fields& fields) {
  fields.optional("statistics");
  for (const auto* format : probe_formats()) {
    auto job = ShownKeys::of_schema();
    auto statistics = ShownKeys::of_schema();
    format->describe(job, statistics);
    for (const auto& key : job.key_names()) {
      fields.optional(key);
    }
  }
}

/// What the probe says of the job, and `statistics`, whose keys are those of every probe and its own: given where all
/// that names something and all that is named could be read, else null.
const Node* read_probe_keys(Fields& fields, const ProbeFormat& format, sweep::Job& job) {
  static const Node nothing = Node::map();
  const Node* node = fields.optional("statistics");
  Fields statistics(node == nullptr ? nothing : *node, "statistics", fields.problems(), "", &fields.pieces());
  const auto num_problems = fields.problems().size();
  comparison_keys(statistics, job.comparison);
  job.probe = format.read({fields, statistics, fields.node(), fields.pieces(), fields.problems(), job.execution});
  const bool is_read = fields.problems().size() == num_problems && statistics.usable();
  for (const auto& fault : is_read ? format.design_faults(job) : std::vector<std::string>()) {
    fields.problems().add(fields.node().find("axes")->find("design")->place(""), fault, "");
  }
  statistics.finish();
  return is_read ? node : nullptr;
}

/// What the pilot says of the variances that rounds are planned with. A resolved job has them beside its name, so that
/// no later start needs the pilot.
void read_pilot(const Node& statistics, const ProbeFormat& format, sweep::Job& job, base::Problems& problems) {
  if (!job.comparison.decide || job.comparison.decide->plan.pilot.empty()) {
    return;
  }
  const Node& plan = *statistics.find("decide")->find("plan");
  const auto place = plan.find("pilot")->place("statistics.decide.plan.pilot");
  if (const auto others = plan.keys.size() - 1; others > 0) {
    problems.add_if(others < 3, place, "a pilot beside some of the variances", "it tells all three",
                    "Leave them out, or the pilot.");
    return;
  }
  try {
    job.comparison.decide->plan = format.plan_of_pilot(job);
  } catch (const base::InputError& error) {
    problems.add(place, error.what(), "");
  }
}

/// What an earlier run declared and left undecided. A resolved job has it.
void read_earlier_run(const Node& statistics, const ProbeFormat& format, sweep::Job& job, base::Problems& problems) {
  auto& decide = job.comparison.decide;
  if (!decide || !decide->after || !decide->after->rows.empty()) {
    return;
  }
  const Node& node = *statistics.find("decide");
  const auto num_problems = problems.size();
  for (const std::string key : {"want", "target", "level", "family", "measures", "reserve"}) {
    if (const Node* own = node.find(key)) {
      problems.add(own->place("statistics.decide." + key), "'" + key + "' beside 'after'",
                   "the earlier run has declared it", "Leave it out.");
    }
  }
  if (problems.size() > num_problems) {
    return;
  }
  try {
    decide = format.decide_after(job);
  } catch (const base::InputError& error) {
    problems.add(node.find("after")->place("statistics.decide.after"), error.what(), "");
  }
}

}  // namespace

std::span<const std::string> general_keys() {
  static const auto keys = [] {
    const sweep::Job usual;
    auto head = ShownKeys::of_schema();
    auto model = ShownKeys::of_schema();
    auto execution = ShownKeys::of_schema();
    head_keys(usual, head);
    model_keys(usual.model, model, nullptr);
    sweep::Execution::each_key(usual.execution, execution);
    auto names = head.key_names();
    names.insert(names.end(), {"probe", "model"});
    for (const auto& name : model.key_names()) {
      names.push_back("model." + name);
    }
    for (const auto& name : execution.key_names()) {
      names.push_back("execution." + name);
    }
    return names;
  }();
  return keys;
}

sweep::Job read_job(const Node& file, Pieces& pieces, base::Problems& problems, const JobCheck& check,
                    NamedRuns named) {
  sweep::Job job;
  if (file.kind == Node::Kind::broken) {
    return job;
  }
  pieces.set_language({});
  Fields fields(file, "", problems, "", &pieces);
  job.name = "job";
  head_keys(job, fields);
  check_name(fields, job.name);
  const ProbeFormat* format = read_probe(fields, problems);
  const Node* model = fields.optional("model");
  fields.nested("model", [&](Fields& keys) { model_keys(job.model, keys, format); });
  if (format != nullptr) {
    const auto defaults = format->defaults();
    const auto& sizes = defaults.sizes_on(said_device(file));
    job.execution.contexts_per_block = sizes.contexts_per_block;
    job.execution.batch_tokens = sizes.batch_tokens;
  }
  fields.item("execution", job.execution);
  if (const Node* sweep = fields.optional("sweep")) {  // the loader has taken it out of a job file
    problems.add(sweep->place("sweep"), "a resolved job has no sweep", "it is one job");
  }
  const Node* statistics = nullptr;
  if (format != nullptr) {
    statistics = read_probe_keys(fields, *format, job);
  } else {
    pass_over_probe_keys(fields);
  }
  check_model(fields, model, job, problems);
  if (job.model.server && format != nullptr) {
    check_server(fields, job, *format);
  }
  fields.finish();
  if (statistics != nullptr && named == NamedRuns::read) {
    read_earlier_run(*statistics, *format, job, problems);
    read_pilot(*statistics, *format, job, problems);
  }
  if (check && format != nullptr) {
    check_whole(file, job, *format, check, statistics, problems);
  }
  return job;
}

Node dump_job(const sweep::Job& job, Extent extent) {
  const auto& format = format_of(job.probe_name());
  ShownKeys keys(extent, default_head);
  head_keys(job, keys);
  if (job.needs_model()) {
    keys.nested("model", [&](ShownKeys& own) { model_keys(job.model, own, &format); });
  }
  keys.add("probe", Node::plain(job.probe_name()));
  format.dump(job.probe, keys);
  keys.item("execution", job.execution);
  if (extent == Extent::everything) {
    keys.nested("statistics", [&](ShownKeys& own) {
      format.dump_statistics(job.probe, own);
      comparison_keys(own, job.comparison);
    });
  }
  return keys.take();
}

base::Json job_schema() {
  auto branches = base::Json::array();
  std::vector<std::string> names;
  for (const auto* format : probe_formats()) {
    names.emplace_back(format->name());
    sweep::Job job;
    job.execution.contexts_per_block = format->defaults().sizes.contexts_per_block;
    job.execution.batch_tokens = format->defaults().sizes.batch_tokens;
    const sweep::Job& usual = job;
    auto keys = ShownKeys::of_schema();
    auto statistics = ShownKeys::of_schema();
    head_keys(usual, keys);
    keys.nested(
        "model", [&](ShownKeys& own) { model_keys(usual.model, own, format); }, "what is asked");
    keys.needed().describe("probe", base::Json::object({{"const", names.back()}}), "what is asked of the model");
    format->describe(keys, statistics);
    keys.item("execution", usual.execution, "how it is computed");
    comparison_keys(statistics, usual.comparison);
    keys.describe("statistics", statistics.take_schema(), "what 'stereosweep stats' is asked; changes no score");
    keys.describe("sweep", names_schema(list_schema(base::Json::object())),
                  "dotted keys with lists of values: one job for each combination");
    const auto probe = base::Json::object({{"probe", base::Json::object({{"const", names.back()}})}});
    branches.push_back(
        {{"if", {{"properties", probe}, {"required", base::Json::array({"probe"})}}}, {"then", keys.take_schema()}});
  }
  return {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
          {"title", "A job of stereosweep"},
          {"type", "object"},
          {"required", base::Json::array({"schema", "name", "probe"})},
          {"properties", base::Json::object({{"probe", choice_schema(names)}})},
          {"allOf", std::move(branches)}};
}

}  // namespace stereosweep::config
